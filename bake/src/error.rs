//! What is wrong with a model file, as one sentence that names the file, the thing in it, and what was expected.

use std::fmt;

/// One sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    #[must_use]
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// The same error, opening with the name of the file where it was found.
    #[must_use]
    pub fn in_file(self, file: &str) -> Self {
        Self(format!("{file}: {}", self.0))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
