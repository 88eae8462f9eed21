//! Says which workloads are meant, by flags. Every word is checked, so that a typing error is no empty answer.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::cluster::me::is_name_of;
use crate::cluster::{Call, Cluster, Detail, Resource, kinds, names, queue};
use crate::print::duration;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;
use crate::workload::{Loaded, Phase, Workload, labels};

/// Flags that choose workloads.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Filter {
    /// Workloads of a queue, and of those below it
    #[arg(short, long, value_name = "QUEUE")]
    pub(crate) queue: Option<String>,
    /// Workloads in one of these states, such as pending,running
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_delimiter = ',',
        hide_possible_values = true,
        value_name = "STATE"
    )]
    pub(crate) status: Vec<Phase>,
    /// Workloads of one kind, such as pytorch or rayjob
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Workloads with these labels, such as team=vision,tier!=dev
    #[arg(short = 'l', long, value_name = "LABELS")]
    pub(crate) selector: Option<String>,
    /// Workloads whose objects have these fields, such as spec.suspend=true,metadata.name!=a
    #[arg(long, value_name = "FIELDS")]
    pub(crate) field_selector: Option<String>,
    /// Workloads made since then: 2h ago, or a time such as 2026-01-31 or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Workloads made before then: 7d ago, or a time
    #[arg(long, visible_alias = "until", value_name = "TIME")]
    pub(crate) older: Option<String>,
    /// Workloads of a user, by the label or annotation user (--user is the kubeconfig's)
    #[arg(long, value_name = "USER")]
    pub(crate) owner: Option<String>,
    /// My workloads: those of the user that the server takes me for
    #[arg(long, conflicts_with = "owner")]
    pub(crate) mine: bool,
}

/// The names of its flags: one of them stands for the names of workloads.
pub(crate) const FLAGS: [&str; 9] =
    ["queue", "status", "kind", "selector", "field_selector", "since", "older", "owner", "mine"];

impl Filter {
    /// Tells whether any flag was given.
    pub(crate) fn is_given(&self) -> bool {
        let texts = [&self.queue, &self.kind, &self.selector, &self.field_selector];
        let times = [&self.since, &self.older, &self.owner];
        self.mine
            || !self.status.is_empty()
            || texts.iter().chain(&times).any(|text| text.is_some())
    }

    /// Says how much of each object it looks at: any field may be asked for by its name.
    pub(crate) fn detail(&self) -> Detail {
        if self.field_selector.is_some() { Detail::Whole } else { Detail::Outline }
    }

    /// Tells whether workloads of a kind may be meant, by what RBAC calls it; any may have a `PodGroup`.
    pub(crate) fn may_mean(&self, kind: &str) -> bool {
        let asked = self.kind.as_deref().and_then(kinds::named);
        asked.is_none_or(|asked| {
            [asked.best().in_rbac(), names::pod_groups().in_rbac()].iter().any(|one| one == kind)
        })
    }

    /// Leaves the workloads that are meant.
    ///
    /// # Errors
    /// A queue, a kind, a namespace that does not exist; a selector or a duration that cannot be read.
    pub(crate) async fn apply(&self, loaded: &mut Loaded, cluster: &Cluster) -> Result<(), Error> {
        let queues = self.queues(cluster).await?;
        self.check_kind(loaded)?;
        let selector = self.selector.as_deref().map(labels::Selector::read).transpose()?;
        let fields = self.field_selector.as_deref();
        let fields = fields.map(|text| labels::Selector::of_flag("--field-selector", text));
        let fields = fields.transpose()?;
        let owner = self.user(cluster).await?;
        let since = self.since.as_deref().map(|text| moment("--since", text)).transpose()?;
        let before = self.older.as_deref().map(|text| moment("--older", text)).transpose()?;
        let of_age = |workload: &Workload| {
            since.is_none_or(|since| workload.created.is_some_and(|made| made >= since))
                && before.is_none_or(|before| workload.created.is_some_and(|made| made < before))
        };
        loaded.workloads.retain(|workload| {
            queues.as_ref().is_none_or(|queues| queues.contains(&workload.queue))
                && (self.status.is_empty() || self.status.contains(&workload.phase()))
                && self.kind.as_ref().is_none_or(|kind| is_kind(workload, kind))
                && selector.as_ref().is_none_or(|selector| selector.matches(workload.labels()))
                && fields.as_ref().is_none_or(|fields| has_fields(workload, fields))
                && owner.as_deref().is_none_or(|owner| is_of(workload, owner))
                && of_age(workload)
        });
        Ok(())
    }

    /// The queue that is asked for and those below it. Where queues may not be read, it is believed.
    async fn queues(&self, cluster: &Cluster) -> Result<Option<BTreeSet<String>>, Error> {
        let Some(name) = &self.queue else { return Ok(None) };
        let Some(queues) = queue::readable(cluster).await? else {
            return Ok(Some([name.clone()].into()));
        };
        if !queues.0.contains_key(name) {
            return Err(queues.unknown(name).into());
        }
        let below = queues.0.keys().filter(|queue| queues.is_below(queue, name));
        Ok(Some(below.cloned().collect()))
    }

    /// Says whose workloads are asked for.
    async fn user(&self, cluster: &Cluster) -> Result<Option<String>, Error> {
        if !self.mine {
            return Ok(self.owner.clone());
        }
        cluster.me().await.map(Some)
    }

    fn check_kind(&self, loaded: &Loaded) -> Result<(), Error> {
        let Some(kind) = &self.kind else { return Ok(()) };
        let is_known = kinds::named(kind).is_some()
            || loaded.workloads.iter().any(|workload| is_kind(workload, kind));
        if is_known {
            return Ok(());
        }
        let known = kinds::KINDS.iter().map(|kind| kind.name.to_lowercase());
        let near = known
            .chain(kinds::nouns().map(str::to_owned))
            .map(|name| (strsim::damerau_levenshtein(&name, &kind.to_lowercase()), name))
            .min()
            .filter(|(distance, _)| *distance <= kind.len().max(3) / 3);
        let what = format!("there is no kind \"{kind}\"");
        let problem = Problem::new(number::VALUE, Exit::Usage, what);
        let problem = match near {
            Some((_, near)) => problem.line(format!("did you mean {near}?")),
            None => problem,
        };
        let here: BTreeSet<String> =
            loaded.workloads.iter().map(|w| w.resource.kind.to_lowercase()).collect();
        let here = here.into_iter().collect::<Vec<_>>().join(", ");
        Err(match here.as_str() {
            "" => problem.fix("--kind job"),
            here => problem.fix(format!("one of those that are here: {}", clean(here))),
        }
        .into())
    }
}

/// The moment that a flag names: so long ago, a day, or a time.
fn moment(flag: &str, text: &str) -> Result<Timestamp, Error> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    if let Ok(day) = text.parse::<jiff::civil::Date>()
        && let Ok(midnight) = day.to_zoned(jiff::tz::TimeZone::UTC)
    {
        return Ok(midnight.timestamp());
    }
    if text == "none" {
        // It would stand for now: --since left nothing, and --older everything.
        let what = format!("{flag} none names no time");
        return Err(Problem::new(number::DURATION, Exit::Usage, what)
            .fix(format!("leave {flag} out"))
            .into());
    }
    let problem = |problem: Problem| problem.line("or a time, such as 2026-01-31T12:00:00Z");
    let span = duration::parse(flag, text).map_err(problem)?.unwrap_or_default();
    let ago = Timestamp::now().checked_sub(span);
    Ok(ago.unwrap_or(Timestamp::MIN))
}

/// Tells whether the object of a workload has some fields; the path of a field is its key.
fn has_fields(workload: &Workload, fields: &labels::Selector) -> bool {
    let Some(object) = workload.object.as_ref().or(workload.pods.first()) else { return false };
    fields.holds(|path| {
        let found = path.split('.').try_fold(object, |value, name| value.get(name))?;
        match found {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    })
}

/// Tells whether a workload is a user's.
pub(crate) fn is_of(workload: &Workload, user: &str) -> bool {
    workload.user().is_some_and(|own| is_name_of(own, user))
}

fn is_kind(workload: &Workload, word: &str) -> bool {
    let own = &workload.resource.kind;
    kinds::named(word).is_some_and(|known| known.name == own) || word.eq_ignore_ascii_case(own)
}

/// Says that a namespace does not exist, where that is why nothing was found in it.
///
/// # Errors
/// It does not; not to be allowed to look is none.
pub(crate) async fn check_namespace(
    namespace: Option<&str>,
    cluster: &Cluster,
) -> Result<(), Error> {
    let Some(namespace) = namespace else { return Ok(()) };
    let namespaces = Resource::new("v1", "Namespace", "namespaces").cluster_wide();
    let found = cluster.get(&Call::new("get", &namespaces).name(namespace)).await;
    if !matches!(found, Ok(None)) {
        return Ok(());
    }
    let what = format!("namespace \"{namespace}\" does not exist");
    Err(Problem::new(number::MISSING, Exit::NotFound, what)
        .fix("-n NAMESPACE   or, in all of them: -A")
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says which moment a flag names, in seconds before now, or what is wrong with it.
    fn check(text: &str, expect: Result<i64, &str>) {
        let now = Timestamp::now().as_second();
        match (moment("--since", text), expect) {
            (Ok(moment), Ok(ago)) => assert!((now - moment.as_second() - ago).abs() < 60, "{text}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (moment, _) => panic!("{text}: {moment:?}"),
        }
    }

    #[test]
    fn a_moment_is_so_long_ago_or_a_time() {
        check("2h", Ok(7200));
        check("0s", Ok(0));
        check("none", Err("--since none names no time"));
        check("2 hours", Err("use a number and a unit"));
        check("1970-01-01", Ok(Timestamp::now().as_second()));
    }
}
