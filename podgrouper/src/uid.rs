//! UIDs: 16 bytes for those that an API server makes, any other text as it is.

use std::fmt;

use serde::{Serialize, Serializer};
use uuid::Uuid;

/// The `metadata.uid` of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uid(Form);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// A UUID as lower-case text with hyphens.
    Uuid(Uuid),
    /// Whatever else an object may have.
    Text(Box<str>),
}

/// Tells whether a UUID is written like this: lower case, with hyphens.
fn is_written(uuid: &Uuid, text: &str) -> bool {
    let mut buffer = Uuid::encode_buffer();
    *uuid.hyphenated().encode_lower(&mut buffer) == *text
}

impl From<&str> for Uid {
    fn from(text: &str) -> Self {
        let parsed = Uuid::try_parse(text).ok();
        // Other spellings of a UUID are other UIDs.
        Self(match parsed.filter(|uuid| is_written(uuid, text)) {
            Some(uuid) => Form::Uuid(uuid),
            None => Form::Text(text.into()),
        })
    }
}

impl Default for Uid {
    fn default() -> Self {
        Self(Form::Text(Box::default()))
    }
}

impl PartialEq<str> for Uid {
    fn eq(&self, text: &str) -> bool {
        match &self.0 {
            Form::Uuid(uuid) => is_written(uuid, text),
            Form::Text(own) => **own == *text,
        }
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Uuid(uuid) => uuid.hyphenated().fmt(out),
            Form::Text(text) => out.write_str(text),
        }
    }
}

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, Uid};

    #[test]
    fn every_text_comes_back_as_it_was() {
        let uuid = "6f9619ff-8b86-d011-b42d-00cf4fc964ff";
        let upper = uuid.to_uppercase();
        let bare = uuid.replace('-', "");
        for text in [uuid, &upper, &bare, "", "u-1"] {
            let uid = Uid::from(text);
            assert_eq!(uid.to_string(), text);
            assert!(uid == *text && uid != *"other");
            assert_eq!(matches!(uid.0, Form::Uuid(_)), text == uuid);
        }
    }
}
