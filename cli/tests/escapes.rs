//! Nothing from the cluster steers a terminal: control characters in every text of every answer, and every command that
//! prints, in this process.

mod stage;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use http::{Request, Response};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kubectl_kai::output::Output;
use kubectl_kai::{Context, run};
use serde_json::Value;
use stage::Sandbox;

/// Sets a title, moves the cursor in seven and in eight bits, turns the direction round, goes to the line's begin.
const POISON: &str = "\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2J\u{202e}\r\u{8}";
/// Fields by which a list is read.
const STRUCTURE: &[&str] = &["resourceVersion", "continue"];
/// Those, and fields by which an object is understood; without a poison in them more of it is printed.
const UNDERSTOOD: &[&str] = &[
    "resourceVersion",
    "continue",
    "phase",
    "type",
    "status",
    "kind",
    "apiVersion",
    "creationTimestamp",
    "lastTimestamp",
];

/// Adds the poison to every text in a value but those of some fields.
fn poison(value: &mut Value, spared: &[&str]) {
    match value {
        Value::String(text) => text.push_str(POISON),
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, spared)),
        Value::Object(fields) => {
            let fields = fields.iter_mut().filter(|(name, _)| !spared.contains(&name.as_str()));
            fields.for_each(|(_, inner)| poison(inner, spared));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A client of the sandbox.
async fn plain(kubeconfig: &str) -> kube::Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).expect("the sandbox wrote it");
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await;
    kube::Client::try_from(config.expect("it is complete")).expect("a client")
}

/// A client whose answers are poisoned.
async fn client(kubeconfig: &str, spared: &'static [&'static str]) -> kube::Client {
    let real = plain(kubeconfig).await;
    let service = tower::service_fn(move |request: Request<Body>| {
        let real = real.clone();
        async move {
            let (mut head, body) = real.send(request).await?.into_parts();
            let bytes = body.collect_bytes().await?;
            let bytes = match serde_json::from_slice::<Value>(&bytes) {
                Ok(mut value) => {
                    poison(&mut value, spared);
                    value.to_string().into_bytes()
                }
                Err(_) => bytes.to_vec(),
            };
            head.headers.remove(http::header::CONTENT_LENGTH);
            Ok::<_, kube::Error>(Response::from_parts(head, Body::from(bytes)))
        }
    });
    kube::Client::new(service, "default")
}

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics with it").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a command line before a terminal, and looks for what a terminal would obey in all that it wrote.
async fn check(words: &[&str], client: &kube::Client) -> usize {
    let page = Page::default();
    let mut out = Output::given(Box::new(page.clone()), Box::new(page.clone()));
    out.set_terminal();
    let mut context = Context::given(client.clone(), "default", out);
    let argv = ["kubectl-kai", "--color=never"].iter().chain(words).map(Into::into).collect();
    let _exit = run(argv, &mut context).await;
    let bytes = page.0.lock().expect("nobody panics with it").clone();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let obeyed = text.chars().find(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}')
    });
    assert_eq!(obeyed, None, "{words:?} printed {text:?}");
    text.matches("]0;x").count()
}

const FORMS: [&str; 10] = [
    "table",
    "wide",
    "json",
    "yaml",
    "name",
    "csv",
    "jsonpath={.items[*]}{range .items[*]}{.name}{.node}{.message}{end}{.workload}",
    "custom-columns=A:.name,B:.status,C:.node,D:.queue",
    "json --jq=.",
    "json --jq=.items[]?|tostring",
];

const LISTS: [&str; 10] = [
    "list",
    "list -A --show-labels",
    "list --pods",
    "list --group-by user",
    "queues",
    "queues --flat",
    "top",
    "top nodes",
    "version",
    "install status",
];

/// Command lines whose errors name what there is.
const WRONG: [&str; 6] = [
    "queues delete nobody -y",
    "queues set nobody --gpu-quota 1 -y",
    "submit job x -q nobody --gpu-type nobody --image i",
    "list -q nobody",
    "list --kind nobody",
    "top --node nobody",
];

#[tokio::test(flavor = "multi_thread")]
async fn nothing_from_the_cluster_steers_a_terminal() {
    let (_sandbox, kubeconfig) = Sandbox::start("2xH100:8");
    let clean = plain(&kubeconfig).await;
    for submit in [
        "submit job half -q default-queue --gpu 0.5 --image busybox -- sleep 600",
        "submit pytorch wide -q default-queue --workers 2 --gpu 8 --image busybox -- sleep 600",
        "wait half --for running --timeout 20s",
    ] {
        let words: Vec<&str> = submit.split(' ').collect();
        check(&words, &clean).await;
    }
    let names = ["half", "wide"].map(|name| format!("{name}{POISON}"));
    let mut shown = 0;
    for spared in [STRUCTURE, UNDERSTOOD] {
        let client = client(&kubeconfig, spared).await;
        for command in LISTS {
            for form in FORMS {
                let words: Vec<&str> =
                    command.split(' ').chain(["-o"]).chain(form.split(' ')).collect();
                shown += check(&words, &client).await;
            }
        }
        for name in &names {
            for form in FORMS {
                let words: Vec<&str> =
                    ["describe", name, "-o"].into_iter().chain(form.split(' ')).collect();
                shown += check(&words, &client).await;
            }
            for words in [
                ["wait", name, "--timeout=1s"],
                ["delete", name, "--dry-run"],
                ["logs", name, "--tail=1"],
            ] {
                shown += check(&words, &client).await;
            }
        }
        for words in WRONG {
            shown += check(&words.split(' ').collect::<Vec<_>>(), &client).await;
        }
    }
    assert!(shown > 100, "what the cluster says was printed, written out: {shown} times");
}
