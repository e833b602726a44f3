//! Text that somebody else carries and can read, and cannot change or make.
//!
//! *Source:* RFC 2104, HMAC; RFC 4648, Base 64 Encoding with URL and Filename Safe Alphabet.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::secret::Secret;

/// What the key is used for, so that a text that is signed for something else is not taken for one of these.
const PURPOSE: &[u8] = b"backburner request-state\n";

/// The text with a code that only who has the key can make.
pub(super) fn sign(secret: &Secret, text: &str) -> String {
    let payload = URL_SAFE_NO_PAD.encode(text);
    let code = code(secret, &payload).finalize().into_bytes();
    format!("{payload}.{}", URL_SAFE_NO_PAD.encode(code))
}

/// The text of what was signed; `None` where it was not, with this key, or was changed.
pub(super) fn verified(secret: &Secret, signed: &str) -> Option<String> {
    let (payload, given) = signed.split_once('.')?;
    let given = URL_SAFE_NO_PAD.decode(given).ok()?;
    // In constant time, so that nobody finds the code byte by byte.
    code(secret, payload).verify_slice(&given).ok()?;
    let text = URL_SAFE_NO_PAD.decode(payload).ok()?;
    String::from_utf8(text).ok()
}

fn code(secret: &Secret, payload: &str) -> Hmac<Sha256> {
    let mut code =
        Hmac::<Sha256>::new_from_slice(secret.bytes()).expect("HMAC takes a key of any length");
    code.update(PURPOSE);
    code.update(payload.as_bytes());
    code
}
