//! CEL selectors, evaluated one device at a time at a bounded cost.
//!
//! ```text
//! Question (namespace, expression, device) ─► parse ─► meter (charges at every step) ─► judge ─► Answer
//! ```
//! No thread, no I/O and no clock: who asks decides where it runs. What an expression may cost is counted, not timed.
//!
//! # Source
//! The API's `CELDeviceSelector`: `device.driver`, `device.attributes["domain"].name` and
//! `device.capacity["domain"].name`; an expression that fails selects nothing, and none may cost more than
//! `CELSelectorExpressionMaxCost`.

mod cost;
pub mod desk;
mod device;
pub mod evaluation;
mod extent;
pub mod lane;
mod meter;
mod question;

use std::sync::Arc;

use kube_cel::{
    KubeCelExt,
    cel::{Context, IdedExpr, Program, objects::Value},
};

use cost::Budget;
pub use question::{Answer, Attribute, Described, Question, Verdict};

/// Says what one evaluation of a selector may cost. Source: `CELSelectorExpressionMaxCost` of `resource.k8s.io`.
pub const COST_MAX: u64 = 1_000_000;
/// Sets how deep an expression with its charges may be; the parser takes no text that comes near it but by loops in loops.
const DEPTH_MAX: usize = 1_000;
/// The stack that a [`Selector`] may need: the interpreter calls itself for each level of an expression.
pub const STACK_BYTES: usize = 128 * 1024 * 1024;
/// The longest selector. Source: `CELSelectorExpressionMaxLength`.
const LENGTH_MAX: usize = 10 * 1024;

/// An expression that was read.
#[derive(Debug)]
pub struct Selector {
    text: Arc<str>,
    /// With its charges, or why it cannot be used.
    expression: Result<IdedExpr, Arc<str>>,
}

impl Selector {
    /// Reads an expression.
    ///
    /// It wants a thread with [`STACK_BYTES`] of stack, like [`Selector::judge`].
    pub fn new(text: &Arc<str>) -> Self {
        Self { text: Arc::clone(text), expression: compile(text).map_err(Arc::from) }
    }

    /// Evaluates it for a device, for at most `cost_max`; the verdict and what it cost.
    ///
    /// # Panics
    /// Where the interpreter has no word for what an API server takes; who asks has to expect it of a user's text.
    pub fn judge(&self, device: &Described, cost_max: u64) -> (Verdict, u64) {
        let expression = match &self.expression {
            Ok(expression) => expression,
            Err(fault) => return (Verdict::Fault(Arc::clone(fault)), cost::BASE),
        };
        let budget = Budget::new(cost_max);
        let mut context = Context::default().with_all();
        budget.enter(&mut context);
        let device = device::value(device, &self.text, &context);
        let mut scope = context.new_inner_scope();
        scope.add_variable_from_value("device", device);
        let value = Value::resolve(expression, &scope);
        let verdict = match value {
            // An error may have been taken for false, or for true, on its way here.
            _ if budget.is_spent() => Verdict::Costly,
            Ok(Value::Bool(true)) => Verdict::Holds,
            Ok(_) | Err(_) => Verdict::Fails,
        };
        (verdict, budget.spent())
    }
}

/// An expression that charges for what it does.
fn compile(text: &str) -> Result<IdedExpr, String> {
    if text.len() > LENGTH_MAX {
        return Err(format!("it is longer than {LENGTH_MAX} bytes"));
    }
    let program = Program::compile(text).map_err(|error| error.to_string())?;
    let metered = meter::metered(program.expression())?;
    if extent::depth(&metered) > DEPTH_MAX {
        return Err(String::from("it is nested too deeply"));
    }
    Ok(metered)
}

#[cfg(test)]
mod tests;
