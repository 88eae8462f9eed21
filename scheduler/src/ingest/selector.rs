//! CEL selectors of device classes and claims, asked about one device at a time.
//!
//! Source: the API's `CELDeviceSelector`: `device.driver`, `device.attributes["domain"].name` and
//! `device.capacity["domain"].name`; an expression that fails selects nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::share::Capacity;
use kube_cel::{
    KubeCelExt,
    cel::{
        Context, Program,
        objects::{Key, Value},
    },
};

/// Expressions that all have to hold, and the domains they name.
#[derive(Debug, Default)]
pub(super) struct Selector {
    programs: Vec<Program>,
    domains: BTreeSet<String>,
    /// Why one of them cannot be used: then nothing is selected.
    pub(super) fault: Option<String>,
}

/// A value of a device's attribute.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Attribute {
    Bool(bool),
    Int(i64),
    Text(Box<str>),
    Version(Box<str>),
}

/// What a slice says of a device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Device {
    pub(super) name: Box<str>,
    /// By domain and name; a name without domain is the driver's.
    pub(super) attributes: BTreeMap<(Box<str>, Box<str>), Attribute>,
    pub(super) capacity: BTreeMap<(Box<str>, Box<str>), Capacity>,
    /// Key, value and effect of what keeps it from those that do not tolerate it.
    pub(super) taints: Vec<[Box<str>; 3]>,
    /// What it draws from counters of its pool, by set and counter, in thousandths.
    pub(super) draws: Vec<(Box<str>, i64)>,
    /// Claims may share it.
    pub(super) is_shared: bool,
    /// A claim that has it is bound to the node where it got it.
    pub(super) binds: bool,
    /// Conditions that have to hold before a pod with it is bound, and those of which none may.
    pub(super) conditions: [Vec<Box<str>>; 2],
}

/// What of a device's taints a request puts up with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Tolerated {
    /// Empty: every key.
    pub(super) key: Box<str>,
    /// None: every value.
    pub(super) value: Option<Box<str>>,
    /// Empty: every effect.
    pub(super) effect: Box<str>,
}

impl Device {
    /// Whether a request with these tolerations may have it.
    pub(super) fn is_tolerated(&self, tolerations: &[Tolerated]) -> bool {
        let tolerates = |one: &Tolerated, [key, value, effect]: &[Box<str>; 3]| {
            (one.key.is_empty() || one.key == *key)
                && one.value.as_ref().is_none_or(|own| own == value)
                && (one.effect.is_empty() || one.effect == *effect)
        };
        self.taints.iter().all(|taint| tolerations.iter().any(|one| tolerates(one, taint)))
    }
}

impl Selector {
    pub(super) fn compile<'e>(expressions: impl Iterator<Item = &'e str>) -> Self {
        let mut selector = Self::default();
        for expression in expressions {
            selector.domains.extend(literals(expression));
            match Program::compile(expression) {
                Ok(program) => selector.programs.push(program),
                Err(error) => selector.fault = Some(error.to_string()),
            }
        }
        selector
    }
}

/// A device as expressions see it.
pub(super) struct Asked<'c> {
    context: Context<'c>,
}

/// What expressions may call, made once for many devices.
pub(super) struct Functions {
    context: Context<'static>,
    version: Option<Program>,
    quantity: Option<Program>,
}

impl Functions {
    pub(super) fn new() -> Self {
        Self {
            context: Context::default().with_all(),
            version: Program::compile("semver(text)").ok(),
            quantity: Program::compile("quantity(text)").ok(),
        }
    }

    /// A device for expressions that name these domains; those it does not have are empty.
    pub(super) fn device(
        &self,
        driver: &str,
        device: &Device,
        domains: &BTreeSet<String>,
    ) -> Asked<'_> {
        let empty = || -> HashMap<String, HashMap<Key, Value>> {
            let known = domains.iter().cloned().chain([driver.to_owned()]);
            known.map(|domain| (domain, HashMap::new())).collect()
        };
        let mut attributes = empty();
        for ((domain, name), value) in &device.attributes {
            let value = match value {
                Attribute::Bool(value) => Value::Bool(*value),
                Attribute::Int(value) => Value::Int(*value),
                Attribute::Text(value) => Value::from(&**value),
                Attribute::Version(value) => self.parsed(self.version.as_ref(), value),
            };
            let of_domain = attributes.entry(domain.to_string()).or_default();
            of_domain.insert(Key::from(&**name), value);
        }
        let mut capacity = empty();
        for ((domain, name), value) in &device.capacity {
            let value = self.parsed(self.quantity.as_ref(), &value.text);
            let of_domain = capacity.entry(domain.to_string()).or_default();
            of_domain.insert(Key::from(&**name), value);
        }
        let fields: HashMap<Key, Value> = HashMap::from([
            (Key::from("driver"), Value::from(driver)),
            (Key::from("attributes"), Value::from(attributes)),
            (Key::from("capacity"), Value::from(capacity)),
        ]);
        let mut context = self.context.new_inner_scope();
        context.add_variable_from_value("device", Value::from(fields));
        Asked { context }
    }

    /// A value that has no literal, read from text; null where it is none.
    fn parsed(&self, program: Option<&Program>, text: &str) -> Value {
        let mut context = self.context.new_inner_scope();
        context.add_variable_from_value("text", Value::from(text));
        program.and_then(|program| program.execute(&context).ok()).unwrap_or(Value::Null)
    }
}

impl Asked<'_> {
    /// Whether all expressions hold.
    pub(super) fn satisfies(&self, selector: &Selector) -> bool {
        selector.fault.is_none()
            && selector
                .programs
                .iter()
                .all(|program| matches!(program.execute(&self.context), Ok(Value::Bool(true))))
    }
}

impl Selector {
    pub(super) fn domains(&self) -> impl Iterator<Item = &String> {
        self.domains.iter()
    }
}

/// Every piece of text in quotes: one that is a domain has to be there, if only empty.
fn literals(expression: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = expression;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = &rest[start..=start];
        let after = &rest[start + 1..];
        let Some(end) = after.find(quote) else { break };
        found.push(after[..end].to_owned());
        rest = &after[end + 1..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Attribute, Capacity, Device, Functions, Selector};

    #[test]
    fn selectors_see_drivers_attributes_and_capacities() {
        let own = |name: &str| (Box::from("gpu.example.com"), Box::from(name));
        let device = Device {
            name: Box::from("gpu-0"),
            attributes: [
                (own("model"), Attribute::Text(Box::from("A100"))),
                (own("index"), Attribute::Int(3)),
                (own("mig"), Attribute::Bool(false)),
                (own("driverVersion"), Attribute::Version(Box::from("1.2.3"))),
            ]
            .into_iter()
            .collect(),
            capacity: [(
                own("memory"),
                Capacity { text: Box::from("80Gi"), ..Capacity::default() },
            )]
            .into_iter()
            .collect(),
            ..Device::default()
        };
        let functions = Functions::new();
        for (expression, expect) in [
            (r#"device.driver == "gpu.example.com""#, true),
            (r#"device.driver == "nic.example.com""#, false),
            (r#"device.attributes["gpu.example.com"].model == "A100""#, true),
            (r#"device.attributes["gpu.example.com"].index >= 4"#, false),
            (r#"!device.attributes["gpu.example.com"].mig"#, true),
            (r#"device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0"#, true),
            (r#"device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("1Ti"))"#, false),
            (
                r#"device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("1.2.0"))"#,
                true,
            ),
            // A domain that the device does not have is empty; a name that it does not have is an error.
            (r#""model" in device.attributes["other.example.com"]"#, false),
            (r#"!("model" in device.attributes["other.example.com"])"#, true),
            (r#"device.attributes["other.example.com"].model == "A100""#, false),
            ("device.driver ==", false),
        ] {
            let selector = Selector::compile([expression].into_iter());
            let domains = selector.domains().cloned().collect();
            let asked = functions.device("gpu.example.com", &device, &domains);
            assert_eq!(asked.satisfies(&selector), expect, "{expression}");
        }
    }
}
