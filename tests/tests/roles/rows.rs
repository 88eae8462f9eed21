//! Every command, and what it answers people of each role.

/// People, and the role that each has: the second in one namespace, the others in the whole cluster.
pub(super) const PEOPLE: [(&str, &str); 3] =
    [("vera", "kai-viewer"), ("sam", "kai-submitter"), ("lea", "kai-queue-admin")];

/// Says what a command answers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// It does what it is for.
    Works,
    /// It does what it can, and says this of what it could not read.
    Without(&'static str),
    /// It says that this right is missing, and which role has it; empty for none of ours.
    Lacks(&'static str, &'static str),
}

use Answer::{Lacks, Without, Works};

/// A command, typed by each of the people; `WHO` is their name, `PORT` a free port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Place in the tree of commands.
    pub(super) path: &'static str,
    pub(super) line: &'static str,
    /// Exit codes with which it has worked.
    pub(super) codes: &'static [i32],
    /// True where it goes to a kubelet, which simulated nodes of a real control plane do not have.
    pub(super) enters_containers: bool,
    pub(super) answers: [Answer; 3],
}

const fn row(path: &'static str, line: &'static str, answers: [Answer; 3]) -> Row {
    Row { path, line, codes: &[0], enters_containers: false, answers }
}

/// A command that needs no right, or one that each of the roles has.
const fn free(path: &'static str, line: &'static str) -> Row {
    row(path, line, [Works, Works, Works])
}

/// A command that changes queues.
const fn of_queues(path: &'static str, line: &'static str, right: &'static str) -> Row {
    // Who may not even read queues is told of the role that may change them.
    let lacks = Lacks(right, "kai-queue-admin");
    let unread = Lacks("list queues.scheduling.run.ai", "kai-queue-admin");
    row(path, line, [lacks, unread, Works])
}

/// A command that changes workloads.
const fn of_work(path: &'static str, line: &'static str, right: &'static str) -> Row {
    let lacks = Lacks(right, "kai-submitter");
    row(path, line, [lacks, Works, lacks])
}

const fn inside(of: Row) -> Row {
    Row { enters_containers: true, ..of }
}

const fn ends_with(codes: &'static [i32], of: Row) -> Row {
    Row { codes, ..of }
}

pub(super) const ROWS: &[Row] = &[
    of_work(
        "submit",
        "submit job WHO-new -q team --image busybox --quiet -- sleep 1000",
        "create jobs.batch in namespace \"default\"",
    ),
    free("wait", "wait kept --for running"),
    of_work("suspend", "suspend WHO-held --yes", "patch jobs.batch in namespace \"default\""),
    of_work("resume", "resume WHO-idle", "patch jobs.batch in namespace \"default\""),
    of_work("delete", "delete WHO-gone --yes", "delete jobs.batch in namespace \"default\""),
    free("list", "list"),
    free("describe", "describe kept"),
    free("explain", "explain kept"),
    row("queues", "queues", [Works, Without("you may not list queues"), Works]),
    of_queues("queues create", "queues create WHO-made --yes", "create queues.scheduling.run.ai"),
    of_queues(
        "queues set",
        "queues set team --gpu-quota 9 --yes",
        "patch queues.scheduling.run.ai",
    ),
    of_queues("queues hold", "queues hold WHO-moved --yes", "patch queues.scheduling.run.ai"),
    of_queues("queues release", "queues release WHO-shut --yes", "patch queues.scheduling.run.ai"),
    of_queues(
        "queues move",
        "queues move WHO-moved --parent default-parent-queue --yes",
        "patch queues.scheduling.run.ai",
    ),
    of_queues("queues delete", "queues delete WHO-old --yes", "delete queues.scheduling.run.ai"),
    row("top", "top", [Works, Without("you may not list nodes"), Works]),
    free("history", "history"),
    free("history usage", "history usage"),
    free("history evictions", "history evictions"),
    free("usage", "usage"),
    inside(of_work("logs", "logs kept", "get pods/log in namespace \"default\"")),
    inside(of_work("exec", "exec kept -- true", "create pods/exec in namespace \"default\"")),
    inside(of_work(
        "port-forward",
        "port-forward kept PORT:8888",
        "create pods/portforward in namespace \"default\"",
    )),
    ends_with(
        &[0, 6],
        row(
            "simulate",
            "simulate job wish --gpu 1 -q team --image busybox",
            [Works, Without("is not known"), Works],
        ),
    ),
    free("sandbox", "sandbox --limits"),
    row("install", "install --yes", [Lacks("", ""); 3]),
    row("install apply", "install apply --yes", [Lacks("", ""); 3]),
    free("install render", "install render"),
    row(
        "install status",
        "install status",
        [Lacks("get customresourcedefinitions.apiextensions.k8s.io", "kai-admin"); 3],
    ),
    row("install remove", "install remove --yes --force", [Lacks("", ""); 3]),
    row("install release", "install release --yes", [Lacks("", ""); 3]),
    ends_with(
        &[0, 12],
        row(
            "doctor",
            "doctor",
            [Without(
                "this user may not list leases.coordination.k8s.io in namespace kai-scheduler",
            ); 3],
        ),
    ),
    row("snapshot", "snapshot WHO.zip", [Works, Without("nodes: you may not list them"), Works]),
    free("snapshot show", "snapshot show cluster.zip"),
    free("completion bash", "completion bash"),
    free("completion zsh", "completion zsh"),
    free("completion fish", "completion fish"),
    free("completion powershell", "completion powershell"),
    free("completion elvish", "completion elvish"),
    free("completion nushell", "completion nushell"),
    free("completion install", "completion install --help"),
    free("completion uninstall", "completion uninstall --help"),
    free("config view", "config view"),
    free("config set", "config set queue team"),
    free("config get", "config get queue"),
    free("config unset", "config unset queue"),
    free("config path", "config path"),
    free("config templates list", "config templates list"),
    free("config templates show", "config templates show own.yaml"),
    free("config templates save", "config templates save WHO -f own.yaml"),
    free("config templates delete", "config templates delete WHO --yes"),
    free("version", "version"),
    free("help", "help topics"),
    free("options", "options"),
];
