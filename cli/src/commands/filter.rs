//! Which workloads are meant, by flags. Every word is checked, so that a typing error is no empty answer.

use std::collections::BTreeSet;

use crate::cluster::{Call, Cluster, Resource, kinds, queue};
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
    /// Workloads that are at most so old, such as 2h
    #[arg(long, value_name = "DURATION")]
    pub(crate) since: Option<String>,
    /// Workloads that are older, such as 7d
    #[arg(long, value_name = "DURATION")]
    pub(crate) older: Option<String>,
}

impl Filter {
    /// Whether any flag was given.
    pub(crate) fn is_given(&self) -> bool {
        let texts = [&self.queue, &self.kind, &self.selector, &self.since, &self.older];
        !self.status.is_empty() || texts.iter().any(|text| text.is_some())
    }

    /// Leaves the workloads that are meant.
    ///
    /// # Errors
    /// A queue, a kind, a namespace that does not exist; a selector or a duration that cannot be read.
    pub(crate) async fn apply(&self, loaded: &mut Loaded, cluster: &Cluster) -> Result<(), Error> {
        let queues = self.queues(cluster).await?;
        self.check_kind(loaded)?;
        let selector = self.selector.as_deref().map(labels::Selector::read).transpose()?;
        let seconds = |flag: &str, text: &Option<String>| match text {
            Some(text) => duration::parse(flag, text)
                .map(|span| span.and_then(|span| i64::try_from(span.as_secs()).ok())),
            None => Ok(None),
        };
        let (since, older) = (seconds("--since", &self.since)?, seconds("--older", &self.older)?);
        let of_age = |workload: &Workload| {
            let age = workload.age();
            since.is_none_or(|since| age.is_some_and(|age| age <= since))
                && older.is_none_or(|older| age.is_some_and(|age| age > older))
        };
        loaded.workloads.retain(|workload| {
            queues.as_ref().is_none_or(|queues| queues.contains(&workload.queue))
                && (self.status.is_empty() || self.status.contains(&workload.state().phase))
                && self.kind.as_ref().is_none_or(|kind| is_kind(workload, kind))
                && selector.as_ref().is_none_or(|selector| selector.matches(workload.labels()))
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
