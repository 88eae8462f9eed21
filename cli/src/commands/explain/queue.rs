//! `kubectl kai explain queue/NAME`: where the fair share of a queue comes from, in real figures.

use serde_json::json;

use super::answer::{Answer, Way, devices};
use super::page;
use crate::cluster::Cluster;
use crate::cluster::gpu::Total;
use crate::cluster::queue::Queues;
use crate::cluster::queue::count;
use crate::commands::queues::share::{Divided, Division, division, supply};
use crate::commands::queues::{from_status, read, rolled_up, uses};
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::format::{self, Format};
use crate::print::output::{Style, clean};
use crate::print::table::{Cell, Column, render};
use crate::workload::{Unread, load_readable};

/// Explains the share of a queue.
pub(super) async fn show(
    name: &str,
    format: &Format,
    context: &mut Context,
) -> Result<Exit, Error> {
    let cluster = context.cluster().await?;
    let (queues, uses, supply) = futures::join!(read(&cluster), uses(&cluster), supply(&cluster));
    let queues = match queues {
        Err(error) if error.exit() == Exit::Forbidden => {
            let (answer, unread) = of_own_work(name, &cluster).await.ok_or(error)?;
            tell(name, &answer, format, context)?;
            unread.sentences("counted").iter().for_each(|sentence| context.out.warn(sentence));
            return Ok(unread.exit_of_failures());
        }
        queues => queues?,
    };
    if !queues.0.contains_key(name) {
        return Err(queues.unknown(name).into());
    }
    let uses = match uses {
        Ok(uses) => Some(rolled_up(&queues, uses)),
        Err(reason) => {
            context.out.warn(&format!(
                "what queues hold and ask for is as their status says, since work was not read: {}",
                clean(&reason)
            ));
            from_status(&queues)
        }
    };
    let parts = uses.zip(supply);
    let division = parts.as_ref().and_then(|(uses, supply)| division(&queues, uses, *supply, name));
    let answer = answer(&queues, name, division.as_ref());
    let rows = division.iter().flat_map(|one| &one.rows).map(|row| {
        json!({"name": row.name, "quotaMilli": row.quota_milli, "limitMilli": row.limit_milli,
            "askedMilli": row.asked_milli, "inQuotaMilli": row.in_quota_milli,
            "fairShareMilli": row.share_milli, "weightMilli": row.weight_milli, "priority": row.priority})
    });
    let data = json!({
        "queue": name,
        "path": queues.path(name),
        "answer": answer.headline,
        "more": answer.more,
        "toDivideMilli": division.as_ref().map(|one| one.amount_milli),
        "queues": rows.collect::<Vec<_>>(),
        "notKnown": answer.note,
    });
    if format::report(&data, format, &mut context.out)? {
        return Ok(Exit::Ok);
    }
    if *format == Format::Name {
        return context.out.data(&format!("queue/{}", clean(name))).map(|()| Exit::Ok);
    }
    context.out.raw(&page(&answer, context.out.columns()))?;
    Ok(Exit::Ok)
}

/// Prints an answer that rests on what work of the user tells.
fn tell(name: &str, answer: &Answer, format: &Format, context: &mut Context) -> Result<(), Error> {
    let data = json!({
        "queue": name, "path": name, "answer": answer.headline, "more": answer.more,
        "toDivideMilli": null, "queues": [], "notKnown": answer.note,
    });
    if !format::report(&data, format, &mut context.out)? {
        context.out.raw(&page(answer, context.out.columns()))?;
    }
    Ok(())
}

/// Returns what the work of the own namespace tells of a queue, where queues may not be read, and which kinds of it could not be
/// listed; none where it tells nothing.
async fn of_own_work(name: &str, cluster: &Cluster) -> Option<(Answer, Unread)> {
    let loaded = load_readable(cluster, Some(&cluster.namespace)).await.ok()?;
    let told = loaded.workloads.iter().filter_map(|one| one.explanation.as_ref());
    let told = told.flat_map(|told| &told.queues).find(|queue| queue.name == name);
    let of_queue = loaded.workloads.iter().filter(|one| one.queue == name);
    let (mut held, mut waits) = (Total::default(), Total::default());
    for workload in of_queue.clone().filter(|one| !one.phase().is_over()) {
        let holds = workload.gpus_held();
        waits.add(&workload.gpus().less(&holds), 1);
        held.add(&holds, 1);
    }
    if told.is_none() && of_queue.count() == 0 {
        return None;
    }
    let own = &cluster.namespace;
    let here =
        format!("its work in namespace {own} holds {} and waits for {waits}", count(&held, "GPU"));
    let none = |amount: Option<i64>| amount.map_or_else(|| "none".to_owned(), devices);
    let answer = match told {
        Some(queue) => Answer {
            headline: format!(
                "{name}: its fair share is {}, its quota {}, and it holds {}",
                gpus(queue.share_milli),
                none(queue.quota_milli),
                devices(queue.used_milli)
            ),
            style: Style::Bold,
            more: vec![
                format!(
                    "It asks for {} in all, and its limit is {}.",
                    gpus(queue.asked_milli),
                    none(queue.limit_milli)
                ),
                format!("Of that, {here}."),
            ],
            note: Some("Not read, for want of rights: queues. The numbers are those that the scheduler told work that waits.".to_owned()),
            ..Answer::default()
        },
        None => Answer {
            headline: format!("{name}: {here}"),
            style: Style::Bold,
            note: Some("Not read, for want of rights: queues. Quota, share and limit are told once work of the queue waits.".to_owned()),
            ..Answer::default()
        },
    };
    Some((answer, loaded.unread))
}

/// The sums behind the share of a queue. Pure.
fn answer(queues: &Queues, name: &str, division: Option<&Division>) -> Answer {
    let own = division.and_then(|one| Some((one, one.rows.iter().find(|row| row.name == name)?)));
    let path = queues.path(name);
    let Some((division, own)) = own else {
        return Answer {
            headline: format!("{path}: its fair share is not known"),
            style: Style::Bold,
            note: Some(
                "Not read, for want of rights: nodes, of which there is something to divide."
                    .to_owned(),
            ),
            ..Answer::default()
        };
    };
    let parent = queues.0.get(name).and_then(|queue| queue.parent.as_deref());
    let what = match parent {
        Some(parent) => format!("{} that queue {parent} has", gpus(division.amount_milli)),
        None => format!("{} on nodes that take pods", gpus(division.amount_milli)),
    };
    Answer {
        headline: format!("{path}: its fair share is {}", gpus(own.share_milli)),
        style: Style::Bold,
        more: vec![quota_first(own), what_is_left(division, own)],
        evidence: vec![("Divided", format!("{what}, among {}", names(division)))],
        table: table(division),
        ways: ways(own),
        ..Answer::default()
    }
}

/// Says what it gets before anybody gets more than a quota.
fn quota_first(own: &Divided) -> String {
    let quota = own.quota_milli.map_or_else(|| "unlimited".to_owned(), devices);
    format!(
        "Its quota is {quota} and it asks for {}, so it gets {} before anybody gets more than a quota.",
        devices(own.asked_milli),
        devices(own.in_quota_milli)
    )
}

/// Says what is left then, and what it gets of that.
fn what_is_left(division: &Division, own: &Divided) -> String {
    let granted = sum(division, |row| row.in_quota_milli);
    let left = division.amount_milli.saturating_sub(granted);
    let more = own.share_milli - own.in_quota_milli;
    let wants = own.limit_milli.map_or(own.asked_milli, |limit| limit.min(own.asked_milli));
    let others: Vec<&str> = division
        .rows
        .iter()
        .filter(|row| row.share_milli > row.in_quota_milli && row.name != own.name)
        .map(|row| row.name.as_str())
        .collect();
    if left <= 0 {
        return format!(
            "Nothing is left: the quotas in use take {} of {}.",
            devices(granted),
            devices(division.amount_milli)
        );
    }
    let left = devices(left);
    if wants <= own.in_quota_milli {
        return format!("{left} are left, and it asks for no more.");
    }
    let whom = if others.is_empty() {
        "only it asks for more".to_owned()
    } else {
        format!("{} ask for more too, and they are divided by weight", others.join(", "))
    };
    format!("{left} are left; {whom}: it gets {} of them.", devices(more))
}

/// Adds up an amount of all queues; work may ask for more than can be counted.
fn sum(division: &Division, of: fn(&Divided) -> i64) -> i64 {
    division.rows.iter().map(of).fold(0, i64::saturating_add)
}

fn gpus(milli: i64) -> String {
    if milli == 1000 { "1 GPU".to_owned() } else { format!("{} GPUs", devices(milli)) }
}

fn names(division: &Division) -> String {
    let names: Vec<&str> = division.rows.iter().map(|row| row.name.as_str()).collect();
    names.join(", ")
}

fn table(division: &Division) -> String {
    let column = |title| Column::new(title).right();
    let columns = [
        Column::new("QUEUE"),
        column("QUOTA"),
        column("ASKS"),
        column("LIMIT"),
        column("WEIGHT"),
        column("IN QUOTA"),
        column("BEYOND"),
        column("FAIR SHARE"),
    ];
    let row = |row: &Divided| -> Vec<Cell> {
        let amount = |milli: Option<i64>| milli.map_or_else(|| "-".to_owned(), devices);
        vec![
            row.name.as_str().into(),
            amount(row.quota_milli).into(),
            devices(row.asked_milli).into(),
            amount(row.limit_milli).into(),
            devices(i64::try_from(row.weight_milli).unwrap_or(i64::MAX)).into(),
            devices(row.in_quota_milli).into(),
            devices(row.share_milli - row.in_quota_milli).into(),
            devices(row.share_milli).into(),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = division.rows.iter().map(row).collect();
    let sum = |of: fn(&Divided) -> i64| devices(sum(division, of));
    rows.push(vec![
        "sum".into(),
        "".into(),
        sum(|row| row.asked_milli).into(),
        "".into(),
        "".into(),
        sum(|row| row.in_quota_milli).into(),
        sum(|row| row.share_milli - row.in_quota_milli).into(),
        sum(|row| row.share_milli).into(),
    ]);
    render(&columns, &rows, usize::MAX, true)
}

fn ways(own: &Divided) -> Vec<Way> {
    let is_short = own.asked_milli > own.share_milli;
    let command = |flag: &str, value: String| {
        Some(format!("kubectl kai queues set {} --gpu-{flag} {value}", own.name))
    };
    let mut ways = Vec::new();
    if is_short && own.limit_milli.is_some_and(|limit| limit < own.asked_milli) {
        let to = command("limit", devices(own.asked_milli));
        ways.push(Way { admin: true, ..Way::new("raise its limit", "it may hold more", to) });
    }
    if is_short {
        let to = command("quota", devices(own.asked_milli));
        let cost = "less is left for the queues beside it";
        ways.push(Way { admin: true, ..Way::new("raise its quota to what it asks for", cost, to) });
        let to =
            command("weight", devices(i64::try_from(own.weight_milli * 2).unwrap_or(i64::MAX)));
        let cost = "the queues beside it get less of what is left";
        ways.push(Way { admin: true, ..Way::new("double its weight", cost, to) });
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what is said of team-a, which asks for so much beside team-b.
    fn check(amount: i64, asked: [i64; 2], shares: [i64; 2], expect: [&str; 2]) {
        let row = |name: &str, asked: i64, share: i64| Divided {
            name: name.into(),
            quota_milli: Some(8000),
            limit_milli: None,
            asked_milli: asked * 1000,
            in_quota_milli: (asked * 1000).min(8000),
            weight_milli: 1000,
            priority: 100,
            share_milli: share * 1000,
        };
        let rows = vec![row("team-a", asked[0], shares[0]), row("team-b", asked[1], shares[1])];
        let division = Division { amount_milli: amount * 1000, rows };
        let own = &division.rows[0];
        assert_eq!([quota_first(own), what_is_left(&division, own)], expect);
    }

    #[test]
    fn the_sums_are_told() {
        check(
            16,
            [20, 4],
            [12, 4],
            [
                "Its quota is 8 and it asks for 20, so it gets 8 before anybody gets more than a quota.",
                "4 are left; only it asks for more: it gets 4 of them.",
            ],
        );
        check(
            20,
            [20, 20],
            [10, 10],
            [
                "Its quota is 8 and it asks for 20, so it gets 8 before anybody gets more than a quota.",
                "4 are left; team-b ask for more too, and they are divided by weight: it gets 2 of them.",
            ],
        );
        check(
            16,
            [4, 4],
            [4, 4],
            [
                "Its quota is 8 and it asks for 4, so it gets 4 before anybody gets more than a quota.",
                "8 are left, and it asks for no more.",
            ],
        );
        check(
            12,
            [8, 8],
            [8, 8],
            [
                "Its quota is 8 and it asks for 8, so it gets 8 before anybody gets more than a quota.",
                "Nothing is left: the quotas in use take 16 of 12.",
            ],
        );
    }
}
