//! The key that the servers of one store share.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::imports::{Change, Entropy, Expectation, Store, StoreError, StoreErrorKind, Versioned};
use crate::limits::CONFLICT_ATTEMPTS;
use crate::rpc::RpcError;
use crate::task::keys::REQUEST_STATE_SECRET;

/// 32 random bytes that never leave the store and its servers.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret([u8; 32]);

/// As it is stored; the tag is the kind and its format number.
#[derive(Serialize, Deserialize)]
enum Stored {
    #[serde(rename = "secret/1")]
    Secret(String),
}

impl Secret {
    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads the key; `None` where nobody has made one yet.
    ///
    /// # Errors
    /// Those of [`Store::get`], and [`StoreErrorKind::Corrupt`] where it cannot be read.
    pub(super) fn read(store: &mut impl Store) -> Result<Option<Self>, StoreError> {
        match store.get(REQUEST_STATE_SECRET)? {
            None => Ok(None),
            Some(entry) => Self::parse(&entry).map(Some),
        }
    }

    /// Reads the key, and makes one where there is none. Of two servers that do so at once, one makes it.
    ///
    /// # Errors
    /// As [`Self::read`], and those of [`Store::commit`].
    pub(super) fn read_or_make(world: &mut (impl Store + Entropy)) -> Result<Self, RpcError> {
        for _ in 0..CONFLICT_ATTEMPTS {
            if let Some(secret) = Self::read(world)? {
                return Ok(secret);
            }
            let secret = Self::random(world);
            match world.commit(vec![secret.put()]) {
                Ok(()) => return Ok(secret),
                Err(error) if error.kind == StoreErrorKind::Conflict => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(RpcError::Internal(
            "other servers keep changing the key of the store: try again",
        ))
    }

    fn random(entropy: &mut impl Entropy) -> Self {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&entropy.random_bytes());
        bytes[16..].copy_from_slice(&entropy.random_bytes());
        Self(bytes)
    }

    fn put(&self) -> Change {
        let stored = Stored::Secret(URL_SAFE_NO_PAD.encode(self.0));
        Change::Put {
            key: REQUEST_STATE_SECRET.to_owned(),
            value: serde_json::to_string(&stored)
                .expect("a string, whose serializer does not fail"),
            expect: Expectation::Absent,
        }
    }

    /// A key that was damaged is not replaced: another server may use it, and what it gave out would be refused.
    fn parse(entry: &Versioned) -> Result<Self, StoreError> {
        let Ok(Stored::Secret(text)) = serde_json::from_str(&entry.value) else {
            return Err(damaged());
        };
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| damaged())?;
        bytes.try_into().map(Self).map_err(|_| damaged())
    }
}

fn damaged() -> StoreError {
    StoreError {
        kind: StoreErrorKind::Corrupt,
        detail: format!(
            "`{REQUEST_STATE_SECRET}` cannot be read, it may come from a newer version"
        ),
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}
