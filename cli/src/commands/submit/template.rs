//! One template: its text, and what it says of itself.

mod head;

use serde_json::{Value, json};

pub(crate) use head::{Head, Parameter};

/// A template.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) name: String,
    /// Says where it is kept, as a user would look for it; the name where it is compiled in.
    pub(crate) origin: String,
    pub(crate) text: String,
}

impl Template {
    /// As `config templates list -o json` has it.
    pub(crate) fn to_json(&self) -> Value {
        let head = Head::read(&self.text);
        json!({
            "name": self.name,
            "origin": self.origin,
            "about": head.about,
            "parameters": head.parameters.iter().map(Parameter::to_json).collect::<Vec<_>>(),
        })
    }
}
