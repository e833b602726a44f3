//! Reading a part of an index.

use crate::imports::{Entry, Store, StoreError};

/// The first `limit` entries of `prefix` behind `after`; fewer only where there are no more. A store may give fewer at
/// once than it has: only when it gives none, there are no more.
///
/// # Errors
/// Those of [`Store::scan`].
pub(super) fn page(
    store: &mut impl Store,
    prefix: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<Vec<Entry>, StoreError> {
    let mut entries = store.scan(prefix, after, limit)?;
    while let Some(missing) = missing(limit, &entries) {
        let Some(last) = entries.last() else { break };
        let more = store.scan(prefix, Some(&last.key), missing)?;
        if more.is_empty() {
            break;
        }
        entries.extend(more);
    }
    Ok(entries)
}

/// How many entries a page lacks; `None` where it is full.
fn missing(limit: u32, entries: &[Entry]) -> Option<u32> {
    let there = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    limit.checked_sub(there).filter(|missing| *missing > 0)
}
