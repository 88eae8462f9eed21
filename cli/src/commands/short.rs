//! The words `@last` and `@latest` in place of a workload's name.

use jiff::Timestamp;

use super::filter::is_of;
use super::last::{self, Last};
use crate::cluster::json::text;
use crate::cluster::kinds;
use crate::cluster::{Call, Cluster, Resource};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;
use crate::workload::load;

/// The newest workload of the user.
pub(crate) const LATEST: &str = "@latest";
/// The workload that was last submitted from this machine.
pub(crate) const LAST: &str = "@last";

/// Says how a command takes the name of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// With its kind: `job/train`.
    WithKind,
    /// As it is.
    Plain,
}

/// The workload that a word means.
struct Meant {
    namespace: String,
    kind: String,
    name: String,
}

/// Puts names in the place of `@last` and `@latest`, and has the command work in their namespace.
///
/// # Errors
/// Another word with `@`; there is no such workload; they are in several namespaces; or a plain name beside them would be
/// looked for in another namespace than the user works in.
pub(crate) async fn resolve(
    words: Vec<&mut String>,
    form: Form,
    context: &mut Context,
) -> Result<(), Error> {
    let are_all = words.iter().all(|word| word.starts_with('@'));
    let mut namespaces: Vec<String> = Vec::new();
    for word in words {
        if !word.starts_with('@') {
            continue;
        }
        let meant = meant(word, context).await?;
        *word = match form {
            Form::WithKind => format!("{}/{}", meant.kind.to_lowercase(), meant.name),
            Form::Plain => meant.name,
        };
        namespaces.push(meant.namespace);
    }
    namespaces.dedup();
    match namespaces.as_slice() {
        [] => Ok(()),
        [one] if are_all => {
            context.globals.all_namespaces = false;
            context.work_in(one);
            Ok(())
        }
        [one] => beside_others(one, context).await,
        several => {
            let what = format!("{LAST} and {LATEST} are in {}", clean(&several.join(" and ")));
            Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
                .fix("one of them at a time")
                .into())
        }
    }
}

/// Refuses plain names beside a word that means a workload elsewhere: `delete @last other` must not reach into another
/// namespace for `other`.
async fn beside_others(namespace: &str, context: &mut Context) -> Result<(), Error> {
    let cluster = context.cluster().await?;
    if cluster.namespace == namespace && !context.globals.all_namespaces {
        return Ok(());
    }
    let what = format!(
        "the word with @ means a workload in namespace {}, and the other names may be in another",
        clean(namespace)
    );
    Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
        .line("a plain name is looked for where you work, or with -A in all namespaces")
        .fix("one after the other, in two commands")
        .into())
}

async fn meant(word: &str, context: &mut Context) -> Result<Meant, Error> {
    match word {
        LAST => submitted_last(context).await,
        LATEST => newest(context).await,
        _ => {
            let what = format!("\"{word}\" is no name of a workload");
            Err(Problem::new(number::USAGE, Exit::Usage, what)
                .fix(format!("{LATEST}  (your newest)   or   {LAST}  (submitted last from here)"))
                .into())
        }
    }
}

/// The workload that was submitted last from here, as long as nobody else's has its name.
async fn submitted_last(context: &mut Context) -> Result<Meant, Error> {
    let cluster = context.cluster().await?;
    let missing = |what: String| {
        Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what)
            .fix("kubectl kai list --mine   or   @latest")
    };
    let Some(last) = last::recall(&cluster, context) else {
        let what = "nothing is known of a workload that was submitted from here to this cluster";
        return Err(missing(what.into()).into());
    };
    let asked = context.globals.namespace.as_deref();
    if let Some(asked) = asked.filter(|asked| *asked != last.namespace) {
        let what = format!(
            "{LAST} is {} in namespace {}, and -n says {asked}",
            clean(&last.name),
            clean(&last.namespace)
        );
        return Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
            .fix("leave -n out")
            .into());
    }
    if is_anothers(&last, &cluster).await {
        let (kind, name) = (last.kind.to_lowercase(), clean(&last.name).into_owned());
        let what = format!("{LAST} was {kind}/{name}, which is gone: another has its name now");
        return Err(missing(what).into());
    }
    Ok(Meant { namespace: last.namespace, kind: last.kind, name: last.name })
}

/// Tells whether its name is another object's by now. One that is gone is itself, for whoever asks what became of it.
async fn is_anothers(last: &Last, cluster: &Cluster) -> bool {
    let Some(kind) = kinds::find(&last.api_version, &last.kind) else { return false };
    let resource = Resource::new(&last.api_version, &last.kind, kind.plural);
    let call = Call::new("get", &resource).namespace(Some(&last.namespace)).name(&last.name);
    let found = cluster.get(&call).await.ok().flatten();
    found.is_some_and(|found| text(&found["metadata"]["uid"]) != last.uid)
}

/// The newest workload of the user in the namespace, or in all.
async fn newest(context: &mut Context) -> Result<Meant, Error> {
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let (loaded, me) = futures::join!(load(&cluster, scope.as_deref()), cluster.me());
    let (loaded, me) = (loaded?, me?);
    let own = loaded.workloads.into_iter().filter(|workload| is_of(workload, &me));
    let newest = own.max_by_key(|own| (own.created.unwrap_or(Timestamp::MIN), own.uid.clone()));
    let Some(newest) = newest else {
        let place =
            scope.map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
        let what = format!("no workload in {place} is yours, {}", clean(&me));
        return Err(Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what)
            .line("yours are those with the label or annotation user, which submit writes")
            .fix("kubectl kai list   or, in all namespaces: @latest -A")
            .into());
    };
    Ok(Meant { namespace: newest.namespace, kind: newest.resource.kind, name: newest.name })
}
