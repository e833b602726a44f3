//! Why the last answer to a task's question did not fit, for who asks next: the acknowledgement says nothing of it.
//!
//! Only a hint. Nothing rests on it, so where it cannot be written or read there is none, and it stays when its question
//! is answered: no key comes twice.

use serde::{Deserialize, Serialize};

use super::{TaskId, keys};
use crate::imports::{Change, Expectation, Store};
use crate::limits::MISFIT_CHARS;
use crate::text::in_one_line;

/// Which question it is about, and what is wrong.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Misfit {
    /// The question's key.
    pub(crate) key: String,
    /// In words, in one line.
    pub(crate) why: String,
}

/// Remembers it; the last one stays.
pub(crate) fn remember(store: &mut impl Store, id: &TaskId, key: &str, why: &str) {
    let misfit = Misfit {
        key: key.to_owned(),
        why: in_one_line(why, MISFIT_CHARS),
    };
    let value = serde_json::to_string(&misfit).expect("two strings, whose serializers do not fail");
    let _unsaid = store.commit(vec![Change::Put {
        key: keys::misfit(id),
        value,
        expect: Expectation::Anything,
    }]);
}

/// The last one of a task; `None` where there is none, or it cannot be read.
pub(crate) fn last(store: &mut impl Store, id: &TaskId) -> Option<Misfit> {
    let entry = store.get(&keys::misfit(id)).ok()??;
    serde_json::from_str(&entry.value).ok()
}
