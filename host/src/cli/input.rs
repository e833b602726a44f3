//! What a person pipes into a job.

use std::io::Read;

use anyhow::Context as _;

/// How much is read, in bytes: as long as all arguments of the tool may be together. The server refuses less where the
/// other arguments are long.
const LIMIT_BYTES: u64 = 512 * 1024;

/// Reads an input to its end.
///
/// # Errors
/// Where it cannot be read, is longer than the limit, or is not UTF-8.
pub(super) fn text(input: impl Read) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    // One more, to see that there is more.
    input
        .take(LIMIT_BYTES + 1)
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    anyhow::ensure!(
        bytes.len() as u64 <= LIMIT_BYTES,
        "standard input is longer than {} KiB: write it to a file, and let the command read that",
        LIMIT_BYTES / 1024
    );
    String::from_utf8(bytes).map_err(|_| {
        anyhow::anyhow!(
            "standard input is not UTF-8: write it to a file, and let the command read that"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_read_up_to_the_limit() {
        let limit = usize::try_from(LIMIT_BYTES).expect("it is small");
        let right = text("a".repeat(limit).as_bytes()).expect("it just fits");
        assert_eq!(right.len(), limit);
        let error = text("a".repeat(limit + 1).as_bytes()).expect_err("it is too long");
        assert!(error.to_string().contains("512 KiB"), "{error}");
        let endless = std::io::repeat(b'a');
        text(endless).expect_err("it is not read for ever");
    }

    #[test]
    fn an_input_has_to_be_text() {
        let error = text(&b"\xff"[..]).expect_err("it is no text");
        assert!(error.to_string().contains("not UTF-8"), "{error}");
    }
}
