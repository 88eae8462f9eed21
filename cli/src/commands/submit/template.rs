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
    /// Tells whether it is one of this program's own.
    pub(crate) is_compiled_in: bool,
}

impl Template {
    /// A template that is kept somewhere.
    pub(crate) fn kept(name: &str, origin: String, text: String) -> Self {
        Self { name: name.into(), origin, text, is_compiled_in: false }
    }

    /// One of this program's own.
    pub(crate) fn compiled_in(name: &str, origin: String, text: &str) -> Self {
        Self { name: name.into(), origin, text: text.into(), is_compiled_in: true }
    }

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
