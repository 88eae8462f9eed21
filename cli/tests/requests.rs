//! Looking at one workload costs the same however many others there are.

mod stage;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http::{Request, Response};
use kube::client::Body;
use kubectl_kai::output::Output;
use serde_json::{Value, json};
use stage::Sandbox;

/// Runs a command line; what it printed on stdout and on stderr.
fn run(kubeconfig: &str, line: &str) -> (String, String) {
    let mut command = assert_cmd::Command::cargo_bin("kubectl-kai").expect("built with the tests");
    let output = command
        .env_clear()
        .env("KUBECONFIG", kubeconfig)
        .args(line.split(' '))
        .output()
        .expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// The requests that a command made: how often each path was asked for, without what was selected there.
fn requests(kubeconfig: &str, line: &str) -> BTreeMap<String, usize> {
    let (_, log) = run(kubeconfig, &format!("{line} -v"));
    let mut paths = BTreeMap::new();
    for line in log.lines().filter(|line| line.contains("answered")) {
        let path = line.split("path=").nth(1).and_then(|rest| rest.split_whitespace().next());
        let path = path.unwrap_or_else(|| panic!("no path in {line:?}"));
        *paths.entry(path.to_owned()).or_default() += 1;
    }
    assert!(!paths.is_empty(), "no request was logged: {log}");
    paths
}

#[test]
fn one_workload_is_read_without_its_namespace() {
    let (_sandbox, kubeconfig) = Sandbox::start("2xH100:8");
    run(&kubeconfig, "submit job one --gpu 8 --workers 3 --image busybox --force --quiet");
    run(&kubeconfig, "submit job urgent --gpu 8 --image busybox --quiet -- sleep 100000");
    run(&kubeconfig, "wait urgent --for running --quiet");
    while !run(&kubeconfig, "explain one").0.contains("there are 2  [KAI1220]") {
        std::thread::sleep(Duration::from_millis(200));
    }
    let before: Vec<_> =
        ["describe one", "explain one"].iter().map(|line| requests(&kubeconfig, line)).collect();
    for at in 0..12 {
        let line = format!("submit job other-{at} --gpu 1 --image busybox --quiet -- sleep 100000");
        run(&kubeconfig, &line);
    }
    for (line, before) in ["describe one", "explain one"].iter().zip(before) {
        let after = requests(&kubeconfig, line);
        let count = |paths: &BTreeMap<String, usize>| paths.values().sum::<usize>();
        assert_eq!(count(&after), count(&before), "{line}: {after:#?}");
        for path in after.keys() {
            let lists_namespace = ["/pods?", "/jobs?", "/podgroups?", "/events?"]
                .iter()
                .any(|kind| path.contains(kind))
                && !path.contains("labelSelector=")
                && !path.contains("fieldSelector=involvedObject")
                && !path.contains("fieldSelector=reason");
            assert!(!lists_namespace, "{line} reads all of {path}");
        }
    }
}

/// Gives a user the role of users in one namespace.
async fn admit(kubeconfig: &str, user: &str, namespace: &str) {
    let config = kube::config::Kubeconfig::read_from(kubeconfig).expect("the sandbox wrote it");
    let options = kube::config::KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(config, &options).await;
    let client = kube::Client::try_from(config.expect("it is complete")).expect("a client");
    let binding = serde_json::json!({
        "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kai-submitter"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    });
    let binding = serde_json::from_value(binding).expect("it is one");
    let bindings: kube::Api<k8s_openapi::api::rbac::v1::RoleBinding> =
        kube::Api::namespaced(client, namespace);
    bindings.create(&kube::api::PostParams::default(), &binding).await.expect("it may be made");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_one_namespace_is_told_what_the_scheduler_knows() {
    let (_sandbox, kubeconfig) = Sandbox::start("2xH100:8");
    admit(&kubeconfig, "ana", "default").await;
    run(&kubeconfig, "submit job big --gpu 8 --workers 2 --image busybox --quiet -- sleep 100000");
    run(&kubeconfig, "wait big --for running --quiet");
    run(&kubeconfig, "submit job more --gpu 8 --workers 2 --image busybox --quiet -- sleep 100000");
    let end = Instant::now() + Duration::from_secs(30);
    let expect = [
        "more waits: it needs 2 whole nodes at once, none is free  [KAI1203]",
        "Queue      default-queue: holds 16 · quota 0 · fair share 16",
        "Evicting   consolidation does not help: it needs 16 GPUs, 0 are free",
    ];
    loop {
        let (said, _) = run(&kubeconfig, "explain more --as ana");
        if expect.iter().all(|line| said.contains(line)) {
            break;
        }
        assert!(Instant::now() < end, "ana is told:\n{said}");
        std::thread::sleep(Duration::from_millis(200));
    }
    let (list, _) = run(&kubeconfig, "list --as ana -o jsonpath={.items[*].message}");
    assert!(list.contains("it needs 2 whole nodes at once, none is free"), "{list}");
}

/// Returns what a command says to ana; the exit code has to be one of these.
fn said_to_ana(kubeconfig: &str, line: &str, exits: &[i32]) -> String {
    let mut command = assert_cmd::Command::cargo_bin("kubectl-kai").expect("built with the tests");
    let words = line.split(' ').chain(["--as", "ana"]);
    let output = command.env_clear().env("KUBECONFIG", kubeconfig).args(words).output();
    let output = output.expect("it starts");
    let text = [output.stdout, output.stderr].map(|all| String::from_utf8_lossy(&all).into_owned());
    let code = output.status.code().unwrap_or(-1);
    assert!(exits.contains(&code), "{line} ends with {code}: {text:?}");
    text.concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_one_namespace_has_her_questions_answered() {
    let (_sandbox, kubeconfig) = Sandbox::start("2xH100:8");
    admit(&kubeconfig, "ana", "default").await;
    run(&kubeconfig, "queues create team --gpu-quota 8 --yes --quiet");
    run(&kubeconfig, "queues create other --gpu-quota 8 --yes --quiet");
    run(&kubeconfig, "submit job kept -q team --gpu 8 --image busybox --quiet -- sleep 100000");
    run(&kubeconfig, "wait kept --for running --quiet");
    std::thread::sleep(Duration::from_secs(2));
    run(&kubeconfig, "submit job lent -q team --gpu 8 --image busybox --quiet -- sleep 100000");
    run(&kubeconfig, "wait lent --for running --quiet");
    run(&kubeconfig, "submit job owner -q other --gpu 8 --image busybox --quiet -- sleep 100000");
    run(&kubeconfig, "wait owner --for running --quiet");
    run(&kubeconfig, "submit job more -q team --gpu 8 --image busybox --quiet -- sleep 100000");
    let end = Instant::now() + Duration::from_secs(30);
    while !run(&kubeconfig, "explain more").0.contains("[KAI1221]") {
        assert!(Instant::now() < end, "the scheduler says why");
        std::thread::sleep(Duration::from_millis(200));
    }
    // Each question, its command, what the first three lines answer, and what is said not to be known.
    for (question, line, exits, answer, unknown) in [
        (
            "why this fair share",
            "explain queue/team",
            [0, 0],
            "its fair share is 8 GPUs, its quota 8, and it holds 8",
            "Not read, for want of rights: queues",
        ),
        ("who uses which quota", "queues", [0, 0], "team", "you may not list queues"),
        (
            "why does it wait",
            "explain more",
            [0, 0],
            "more waits: it needs a whole node, none is free",
            "of those in this namespace",
        ),
        (
            "who evicted it",
            "explain lent",
            [0, 0],
            "default/owner took the room that its queue is entitled to",
            "",
        ),
        ("what is going on", "list", [0, 0], "kept   job   team", ""),
        (
            "will it run",
            "simulate job wish --gpu 1 -q team --image i",
            [0, 6],
            "What if   new wish",
            "is not known",
        ),
        (
            "is it healthy",
            "doctor",
            [12, 0],
            "this user may not list pods in all namespaces: 11 checks (role kai-viewer)",
            "--clusterrole=kai-admin --user=ana   (an administrator; for all checks)",
        ),
        (
            "change a queue",
            "queues set team --gpu-quota 9 --yes",
            [4, 4],
            "you may not",
            "an administrator can grant",
        ),
    ] {
        let said = said_to_ana(&kubeconfig, line, &exits);
        let first: Vec<&str> = said.lines().take(3).collect();
        assert!(first.iter().any(|one| one.contains(answer)), "{question}: {line}:\n{said}");
        assert!(said.contains(unknown), "{question}: {line} does not say {unknown:?}:\n{said}");
        assert!(!said.contains("can never start"), "{question}: {line} claims what it cannot know");
    }
}

#[test]
fn what_is_often_asked_takes_few_requests() {
    let (_sandbox, kubeconfig) = Sandbox::start("1xH100:8");
    run(&kubeconfig, "submit job holds --gpu 8 --image busybox --quiet -- sleep 100000");
    run(&kubeconfig, "wait holds --for running --quiet");
    run(&kubeconfig, "submit job waits --gpu 8 --image busybox --quiet -- sleep 100000");
    let end = Instant::now() + Duration::from_secs(30);
    while !run(&kubeconfig, "queues default-queue --no-headers").0.contains(" 8 / ") {
        assert!(Instant::now() < end, "the queue's status says what it holds");
        std::thread::sleep(Duration::from_millis(200));
    }
    let of_queue = requests(&kubeconfig, "queues default-queue");
    assert_eq!(of_queue.values().sum::<usize>(), 1, "{of_queue:#?}");
    for (line, most) in [("list", 1), ("list -A", 1)] {
        let all = requests(&kubeconfig, line);
        let own = |kind: &str| -> usize {
            let lists = all.iter().filter(|(path, _)| path.contains(&format!("/{kind}?")));
            let own = lists.filter(|(path, _)| !path.contains("metadata.namespace%21%3D"));
            own.map(|(_, count)| count).sum()
        };
        for kind in ["pods", "podgroups", "jobs", "events"] {
            assert!(own(kind) <= most, "{line} reads {kind} more than once: {all:#?}");
        }
    }
    // Their lines tell no places in queues, for which others' work would have to be read.
    for line in ["list --group-by user", "list --pods -q default-queue"] {
        let all = requests(&kubeconfig, line);
        let of_places = |path: &&String| path.contains("%21%3D") || path.contains("priorityclass");
        let read: Vec<&String> = all.keys().filter(of_places).collect();
        assert!(read.is_empty(), "{line} reads what it does not show: {read:#?}");
    }
    let all = requests(&kubeconfig, "list");
    for part in ["%21%3D", "priorityclass"] {
        assert!(all.keys().any(|path| path.contains(part)), "places are told: {all:#?}");
    }
}

/// Creates so many pods that nobody schedules, in namespace `default`.
async fn create_pods(kubeconfig: &str, count: usize) {
    let config = kube::config::Kubeconfig::read_from(kubeconfig).expect("the sandbox wrote it");
    let options = kube::config::KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(config, &options).await;
    let client = kube::Client::try_from(config.expect("it is complete")).expect("a client");
    let pods: kube::Api<k8s_openapi::api::core::v1::Pod> = kube::Api::default_namespaced(client);
    for number in 0..count {
        let pod = serde_json::json!({
            "metadata": {"name": format!("p-{number:05}"), "labels": {"kai.scheduler/queue": "default-queue"}},
            "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "c", "image": "i"}],
                "schedulingGates": [{"name": "example.com/never"}]},
        });
        let pod = serde_json::from_value(pod).expect("it is one");
        pods.create(&kube::api::PostParams::default(), &pod).await.expect("it is created");
    }
}

#[test]
fn pods_are_printed_page_by_page_and_none_twice_or_never() {
    const PODS: usize = 1_100;
    let (_sandbox, kubeconfig) = Sandbox::start("none");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(create_pods(&kubeconfig, PODS));
    let pages = requests(&kubeconfig, "list --pods");
    let of_pods = pages.iter().filter(|(path, _)| path.contains("/pods?"));
    assert!(of_pods.map(|(_, times)| times).sum::<usize>() > 1, "one page: {pages:#?}");
    let (names, _) = run(&kubeconfig, "list --pods -o name");
    let expect: Vec<String> = (0..PODS).map(|number| format!("pod/p-{number:05}")).collect();
    assert!(names.lines().eq(expect.iter().map(String::as_str)), "{names}");
    // Ages go by.
    let rows = |words: &str| {
        let (text, _) = run(&kubeconfig, words);
        let row = |line: &str| line.rsplit_once("  ").map(|(row, _)| row.trim_end().to_owned());
        text.lines().map(row).collect::<Vec<_>>()
    };
    let (read, whole) = (rows("list --pods"), rows("list --pods --limit 2000"));
    assert_eq!(read.len(), PODS + 1, "a header and a line for each");
    assert_eq!(read, whole);
    // A list leaves this field out, but for somebody who asks for it.
    let (names, _) = run(&kubeconfig, "list --field-selector spec.dnsPolicy=ClusterFirst -o name");
    assert_eq!(names.lines().count(), PODS);
}

/// Text that a command printed.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Printed {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("nobody panics with it")).into_owned()
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics with it").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A page of a list, with the token of the one after it.
fn page(items: &[Value], next: &str) -> Value {
    json!({"metadata": {"continue": next}, "items": items})
}

/// Answers as a server does that has a job, a `PodGroup` and a pod of each of these names: the last `PodGroup` is on a page
/// of its own.
fn answer(path: &str) -> Value {
    let names = ["a", "b", "c"];
    let job = |name: &str| json!({"metadata": {"name": name, "namespace": "default", "uid": format!("job-{name}")}});
    let group = |name: &str| {
        let top = format!("group: batch\nversion: v1\nkind: Job\nname: {name}\nuid: job-{name}\n");
        json!({"metadata": {"name": format!("pg-{name}"), "namespace": "default",
            "annotations": {"kai.scheduler/top-owner-metadata": top}}, "spec": {"queue": format!("queue-{name}")}})
    };
    let pod = |name: &str| {
        json!({"metadata": {"name": format!("{name}-0"), "namespace": "default", "uid": format!("pod-{name}"),
            "annotations": {"pod-group-name": format!("pg-{name}")}}, "status": {"phase": "Pending"}})
    };
    let is_last = path.contains("continue=");
    if path.contains("/podgroups?") {
        let groups = names.map(group);
        return if is_last { page(&groups[2..], "") } else { page(&groups[..2], "last") };
    }
    if path.contains("/pods?") {
        let pods = names.map(pod);
        return if is_last { page(&pods[2..], "") } else { page(&pods[..2], "last") };
    }
    if path.contains("/jobs?") { page(&names.map(job), "") } else { page(&[], "") }
}

/// Runs a command against that server, whose last `PodGroup` comes only when a pod was printed. Returns what was printed,
/// and whether a pod was by then.
async fn listed(words: &[&str], is_awaited: bool) -> (String, bool) {
    let (printed, was_first) = (Printed::default(), Arc::new(Mutex::new(false)));
    let (shown, first) = (printed.clone(), Arc::clone(&was_first));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (shown, first) = (shown.clone(), Arc::clone(&first));
        let path = request.uri().to_string();
        async move {
            if is_awaited && path.contains("/podgroups?") && path.contains("continue=") {
                let end = Instant::now() + Duration::from_secs(10);
                while !shown.text().contains("a-0") && Instant::now() < end {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                *first.lock().expect("nobody panics with it") = shown.text().contains("a-0");
            }
            let body = Body::from(answer(&path).to_string().into_bytes());
            Ok::<_, kube::Error>(Response::new(body))
        }
    });
    let client = kube::Client::new(service, "default");
    let out = Output::given(Box::new(printed.clone()), Box::new(printed.clone()));
    let mut context = kubectl_kai::Context::given(client, "default", out);
    let argv = ["kubectl-kai"].iter().chain(words).map(Into::into).collect();
    let exit = kubectl_kai::run(argv, &mut context).await;
    assert_eq!(exit, kubectl_kai::error::Exit::Ok, "{}", printed.text());
    (printed.text(), *was_first.lock().expect("nobody panics with it"))
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_of_named_work_alone_are_listed() {
    let (read, _) = listed(&["list", "--pods", "b"], false).await;
    let pods: Vec<_> = read.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(pods, ["POD", "b-0"], "{read}");
}

/// A list of a server that has a job which completed, with these pods.
fn list_of_job(path: &str, pods: &[Value]) -> Value {
    let top = "group: batch\nversion: v1\nkind: Job\nname: a\nuid: job-a\n";
    let job = json!({"metadata": {"name": "a", "namespace": "default", "uid": "job-a"},
        "status": {"conditions": [{"type": "Complete", "status": "True"}]}});
    let group = json!({"metadata": {"name": "pg-a", "namespace": "default",
        "annotations": {"kai.scheduler/top-owner-metadata": top}}, "spec": {"queue": "q"}});
    if path.contains("/pods?") {
        page(pods, "")
    } else if path.contains("/podgroups?") {
        page(&[group], "")
    } else if path.contains("/jobs?") {
        page(&[job], "")
    } else {
        page(&[], "")
    }
}

/// Answers as a server does that has a job whose one pod has ended, and gives nobody the log of that.
fn without_logs(path: &str) -> (u16, Value) {
    let pod = json!({"metadata": {"name": "a-0", "namespace": "default", "uid": "pod-a",
        "annotations": {"pod-group-name": "pg-a"}},
        "spec": {"containers": [{"name": "main"}]}, "status": {"phase": "Succeeded"}});
    if path.contains("/pods/a-0/log") {
        let refusal = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "reason": "Forbidden", "message": "logs are nobody's", "code": 403});
        return (403, refusal);
    }
    if path.contains("/pods/a-0") { (200, pod) } else { (200, list_of_job(path, &[pod])) }
}

/// The code says that a log is whole: who keeps it has nothing else to go by.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_cannot_be_read_makes_its_reader_fail() {
    let printed = Printed::default();
    let service = tower::service_fn(|request: Request<Body>| {
        let (code, answer) = without_logs(&request.uri().to_string());
        async move {
            let body = Body::from(answer.to_string().into_bytes());
            let answer = Response::builder().status(code).body(body);
            Ok::<_, kube::Error>(answer.expect("it has a code"))
        }
    });
    let client = kube::Client::new(service, "default");
    let out = Output::given(Box::new(printed.clone()), Box::new(printed.clone()));
    let mut context = kubectl_kai::Context::given(client, "default", out);
    let argv = ["kubectl-kai", "logs", "-f", "a"].iter().map(Into::into).collect();
    let exit = kubectl_kai::run(argv, &mut context).await;
    let said = printed.text();
    assert!(said.contains("the log of a-0 is not all there"), "{said}");
    assert_eq!(exit, kubectl_kai::error::Exit::Failure, "{said}");
}

/// Answers as a server does that has a job of two ranks, each of which failed once and was started again: rank 1 before rank 0.
fn restarted(path: &str) -> String {
    let is_before = path.contains("previous=true") && path.contains("container=main");
    let log = match (path.contains("/pods/a-0/log"), path.contains("/pods/a-1/log"), is_before) {
        (true, _, true) => vec![(6, "told")],
        (true, _, false) => vec![(11, "a"), (14, "d")],
        (_, true, true) => vec![(3, "cause"), (4, "end")],
        (_, true, false) => vec![(12, "b"), (13, "c")],
        (false, false, _) => Vec::new(),
    };
    if !log.is_empty() {
        let line = |(second, text): &(u8, &str)| format!("2026-01-01T00:00:{second:02}Z {text}\n");
        return log.iter().map(line).collect::<Vec<_>>().concat();
    }
    let pod = |rank: u8, code: u8, second: u8| {
        let end = json!({"exitCode": code, "reason": "Error",
            "finishedAt": format!("2026-01-01T00:00:{second:02}Z")});
        let status = json!({"name": "main", "state": {"terminated": {"exitCode": 0}},
            "lastState": {"terminated": end}});
        json!({"metadata": {"name": format!("a-{rank}"), "namespace": "default",
                "uid": format!("pod-{rank}"), "annotations": {"pod-group-name": "pg-a"},
                "labels": {"batch.kubernetes.io/job-completion-index": rank.to_string()}},
            "spec": {"nodeName": "n", "restartPolicy": "OnFailure", "containers": [{"name": "main"}]},
            "status": {"phase": "Succeeded", "containerStatuses": [status]}})
    };
    list_of_job(path, &[pod(0, 143, 7), pod(1, 3, 5)]).to_string()
}

/// Returns the last word of each line of the logs of that job, and what is said beside them.
async fn logs_of_restarted(words: &[&str]) -> (Vec<String>, String) {
    let (printed, said) = (Printed::default(), Printed::default());
    let service = tower::service_fn(|request: Request<Body>| {
        let answer = restarted(&request.uri().to_string());
        async move { Ok::<_, kube::Error>(Response::new(Body::from(answer.into_bytes()))) }
    });
    let client = kube::Client::new(service, "default");
    let out = Output::given(Box::new(printed.clone()), Box::new(said.clone()));
    let mut context = kubectl_kai::Context::given(client, "default", out);
    let argv = ["kubectl-kai", "logs", "a"].iter().chain(words).map(Into::into).collect();
    let exit = kubectl_kai::run(argv, &mut context).await;
    assert_eq!(exit, kubectl_kai::error::Exit::Ok, "{}", said.text());
    let last = |line: &str| line.rsplit(' ').next().unwrap_or_default().to_owned();
    (printed.text().lines().map(last).collect(), said.text())
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_ranks_come_in_the_order_of_their_times() {
    let (lines, said) = logs_of_restarted(&[]).await;
    assert_eq!(lines, ["a", "b", "c", "d"], "{said}");
}

/// Its container was started again since.
#[tokio::test(flavor = "multi_thread")]
async fn who_failed_first_is_shown_as_it_failed() {
    let (lines, said) = logs_of_restarted(&["--errors"]).await;
    assert_eq!(lines, ["cause", "end"], "{said}");
    for line in
        ["1 failed first at 2026-01-01T00:00:05Z: exit code 3", "then 0, 2s later: exit code 143"]
    {
        assert!(said.contains(line), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_are_printed_before_the_last_pod_group_is_read() {
    let (read, is_first) = listed(&["list", "--pods"], true).await;
    assert!(is_first, "the first row waited for all PodGroups:\n{read}");
    let (whole, _) = listed(&["list", "--pods", "--limit", "9"], false).await;
    assert_eq!(read, whole);
    let rows: Vec<Vec<&str>> =
        read.lines().skip(1).map(|line| line.split_whitespace().take(3).collect()).collect();
    let expect = ["a", "b", "c"].map(|name| format!("{name}-0 {name} queue-{name}"));
    assert!(rows.iter().map(|row| row.join(" ")).eq(expect), "{read}");
}
