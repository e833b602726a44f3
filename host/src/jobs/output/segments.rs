//! Which segments there are.

use std::fs::File;
use std::io;

use cap_std::fs::Dir;

use super::super::files;
use super::index::{ENTRY_BYTES, Entry};

/// One segment's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The offset of its first byte in the whole output.
    pub(super) start: u64,
    /// How many bytes it holds, as far as is known.
    pub(super) len: u64,
    /// When it was last written, in milliseconds since 1970.
    pub(super) modified_at: u64,
}

impl Segment {
    /// The offset after its last byte.
    pub(super) fn end(self) -> u64 {
        self.start.saturating_add(self.len)
    }
}

/// How much a job wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// How many bytes it wrote to both streams, kept or not.
    pub(crate) written_bytes: u64,
    /// How many of them are there.
    pub(crate) kept_bytes: u64,
    /// When it last wrote, in milliseconds since 1970; `None` if it has not.
    pub(crate) last_at: Option<u64>,
}

/// The name of a segment's bytes.
pub(super) fn data_name(start: u64) -> String {
    format!("out-{start:020}")
}

/// The name of a segment's index.
pub(super) fn index_name(start: u64) -> String {
    format!("idx-{start:020}")
}

/// All segments in ascending order.
pub(super) fn list(dir: &Dir) -> io::Result<Vec<Segment>> {
    let mut found = Vec::new();
    for entry in dir.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        let offset = name.to_str().and_then(|name| name.strip_prefix("out-"));
        let Some(start) = offset.and_then(|offset| offset.parse().ok()) else {
            continue;
        };
        match entry.metadata() {
            // Somebody else's.
            Ok(metadata) if !metadata.is_file() => {}
            Ok(metadata) => {
                found.push(Segment {
                    start,
                    len: metadata.len(),
                    modified_at: modified_ms(&metadata)?,
                });
            }
            // Deleted since the directory was read: dropped output.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    found.sort_unstable_by_key(|segment| segment.start);
    Ok(found)
}

/// How much was written, from the segments' places alone.
pub(crate) fn usage(dir: &Dir) -> io::Result<Usage> {
    let segments = list(dir)?;
    Ok(Usage {
        written_bytes: segments.last().map_or(0, |last| last.end()),
        kept_bytes: segments.iter().map(|segment| segment.len).sum(),
        last_at: segments.last().map(|last| last.modified_at),
    })
}

/// Makes all output survive a power failure. Gives how many bytes of it may not. Those that the disk refused can still
/// be read for now; those whose file somebody has closed or changed cannot.
pub(crate) fn sync(dir: &Dir) -> io::Result<u64> {
    let mut refused_bytes = 0;
    for segment in list(dir)? {
        // The bytes first: an entry without its bytes would promise some.
        let synced = [data_name(segment.start), index_name(segment.start)]
            .into_iter()
            .try_for_each(|name| match files::open_file(dir, &name)? {
                Some(file) => file.sync_data(),
                // Nobody can read it either.
                None => Err(io::ErrorKind::NotFound.into()),
            });
        if synced.is_err() {
            refused_bytes += segment.len;
        }
    }
    Ok(refused_bytes)
}

/// When a file was last written, in milliseconds since 1970.
fn modified_ms(metadata: &cap_std::fs::Metadata) -> io::Result<u64> {
    let modified = metadata.modified()?.into_std();
    let since = modified
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    Ok(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Deletes a segment: its bytes first, so that whoever still finds the bytes finds their index too.
pub(super) fn delete(dir: &Dir, start: u64) -> io::Result<()> {
    files::remove(dir, &data_name(start))?;
    files::remove(dir, &index_name(start))
}

/// Reads the entry with this number; `None` after the last one.
pub(super) fn entry(index: &File, number: u64) -> io::Result<Option<Entry>> {
    let mut bytes = [0; ENTRY_BYTES as usize];
    let read = std::os::unix::fs::FileExt::read_at(index, &mut bytes, number * ENTRY_BYTES)?;
    Ok((read == bytes.len()).then(|| Entry::decode(bytes)))
}
