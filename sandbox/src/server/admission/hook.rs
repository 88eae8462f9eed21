//! One webhook of a configuration.

use serde_json::Value;

use super::call::{Endpoint, Webhooks};
use super::expression::{self, Named};
use super::review::{self, Answer};
use super::rules::Scope;
use super::{Attributes, Question};
use crate::server::object;
use crate::server::refusal::{ApiResult, Refusal};

/// A webhook, as its configuration describes it.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its configuration by itself"
)]
pub(super) struct Hook {
    name: String,
    pub(super) scope: Scope,
    /// True if its conditions ask what the user of a request may do.
    pub(super) asks_rights: bool,
    conditions: Vec<Named>,
    /// True if a request passes when the webhook cannot be asked.
    fails_open: bool,
    /// True if it wants to see what others changed after it.
    pub(super) is_reinvoked: bool,
    has_side_effects: bool,
    review_version: &'static str,
    endpoint: Endpoint,
}

impl Hook {
    /// Reads an entry of `webhooks`.
    pub(super) fn read(value: &Value, webhooks: Option<&Webhooks>) -> Self {
        let versions = object::array(value, "/admissionReviewVersions");
        let known = |version: &Value| match version.as_str() {
            Some("v1") => Some("v1"),
            Some("v1beta1") => Some("v1beta1"),
            _ => None,
        };
        let effects = object::text(value, "/sideEffects");
        let conditions = Named::list(value, "/matchConditions");
        Self {
            name: object::text(value, "/name").to_owned(),
            scope: Scope::of_webhook(value),
            asks_rights: Named::ask_rights(&conditions),
            conditions,
            fails_open: object::text(value, "/failurePolicy") == "Ignore",
            is_reinvoked: object::text(value, "/reinvocationPolicy") == "IfNeeded",
            has_side_effects: !matches!(effects, "None" | "NoneOnDryRun"),
            review_version: versions.iter().find_map(known).unwrap_or("v1"),
            endpoint: Endpoint::read(value, webhooks.cloned()),
        }
    }

    /// Asks the webhook; `None` where it does not want to be asked, or cannot be and lets requests pass then.
    ///
    /// # Errors
    /// The refusal of the request: the webhook's own, or that it cannot be asked.
    pub(super) async fn ask(
        &self,
        asked: &Attributes<'_>,
        question: &Question<'_>,
    ) -> ApiResult<Option<Answer>> {
        if !self.scope.has_object(question.object, question.old)
            || !self.is_wanted(asked, question)?
        {
            return Ok(None);
        }
        if asked.is_dry_run && self.has_side_effects {
            let message = format!("admission webhook {:?} does not support dry run", self.name);
            return Err(Refusal::bad_request(message));
        }
        let review = review::request(asked, question, self.review_version);
        let answer = match self.endpoint.post(&review).await {
            Ok(answered) => review::answer(&review, &answered),
            Err(why) => Err(format!("failed to call webhook: {why}")),
        };
        match answer {
            Ok(Answer { refused: Some(status), .. }) => Err(review::denied(&self.name, &status)),
            Ok(answer) => Ok(Some(answer)),
            Err(why) if self.fails_open => {
                tracing::warn!(webhook = self.name, why, "a webhook failed; requests pass");
                Ok(None)
            }
            Err(why) => {
                Err(Refusal::internal(&format!("failed calling webhook {:?}: {why}", self.name)))
            }
        }
    }

    fn is_wanted(&self, asked: &Attributes<'_>, question: &Question<'_>) -> ApiResult<bool> {
        if self.conditions.is_empty() {
            return Ok(true);
        }
        let context = expression::context(asked, question);
        match expression::all_hold(&self.conditions, &context) {
            Ok(holds) => Ok(holds),
            Err(_) if self.fails_open => Ok(false),
            Err(why) => Err(Refusal::forbidden(asked.target.kind.resource(), &asked.name, &why)),
        }
    }

    /// The refusal of a change that cannot be made.
    pub(super) fn unusable(&self, why: &str) -> Refusal {
        Refusal::internal(&format!("failed to apply the patch of webhook {:?}: {why}", self.name))
    }
}
