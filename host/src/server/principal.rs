//! Who calls.

/// How many bytes a principal may have, as the WIT promises the component.
const BYTES_MAX: usize = 256;

/// Whoever is behind a connection, as the embedder authenticated it. Tasks belong to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(String);

/// A name that is none for a principal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a principal has 1 to {BYTES_MAX} bytes and this one has {bytes}: use a shorter name of the same user, such as an id"
)]
pub struct BadPrincipal {
    /// How many it has.
    pub bytes: usize,
}

impl Principal {
    /// The principal of this name: 1 to 256 bytes, the same for the same user at all times. Another name is another
    /// principal, and sees none of this one's tasks.
    ///
    /// # Errors
    /// [`BadPrincipal`] where the name is empty or longer.
    pub fn new(name: impl Into<String>) -> Result<Self, BadPrincipal> {
        let name = name.into();
        match name.len() {
            1..=BYTES_MAX => Ok(Self(name)),
            bytes => Err(BadPrincipal { bytes }),
        }
    }

    /// Its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_has_a_name_of_1_to_256_bytes() {
        for bytes in [1, 256] {
            assert!(Principal::new("x".repeat(bytes)).is_ok(), "{bytes}");
        }
        for bytes in [0, 257] {
            let refused = Principal::new("x".repeat(bytes));
            assert_eq!(refused, Err(BadPrincipal { bytes }));
        }
        assert_eq!(
            Principal::new("é".repeat(129)),
            Err(BadPrincipal { bytes: 258 })
        );
    }
}
