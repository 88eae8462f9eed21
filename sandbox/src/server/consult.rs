//! Admission of what is not stored itself.

use serde_json::Value;

use super::admission::Attributes;
use super::api::Api;
use super::refusal::ApiResult;

/// Asks about an object that is not stored itself, such as a Binding, and lets it be changed; gives the warnings.
///
/// # Errors
/// The refusal of the request.
pub(crate) async fn consult(
    api: &Api,
    attributes: &Attributes<'_>,
    object: &mut Value,
    old: &Value,
) -> ApiResult<Vec<String>> {
    let asked = api.read().asked(attributes, object);
    let Some(asked) = asked else { return Ok(Vec::new()) };
    let mut warnings = asked.mutate(attributes, object, old, &|_| Ok(())).await?;
    warnings.extend(asked.validate(attributes, object, old).await?);
    Ok(warnings)
}
