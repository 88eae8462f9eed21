//! `submit --save-template`: what would be submitted, as a template of the user's own.

use serde_json::{Value, json};

use super::document::Document;
use super::library::{self, Kept, check_name};
use super::render::{self, shell};
use super::request::Request;
use super::template::Template;
use crate::cluster::json::ensure;
use crate::cluster::manifest::sites;
use crate::cluster::names;
use crate::cluster::queue::count;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;
use crate::print::yaml;
use crate::settings::{TemplatePlace, user_templates};

/// Stands for the name of the workload until the template is written, in all names that are made of it.
pub(super) const NAME: &str = "kai-template-name";
/// Stands for the command, and for the command as one line.
const COMMAND: &str = "kai-template-command";
const ENTRYPOINT: &str = "kai-template-entrypoint";

/// Writes the documents down as a template, and says how it is used.
///
/// # Errors
/// It is no name of a template, one of that name is there and nobody says that it may go, or it cannot be written.
pub(super) async fn save(
    name: &str,
    documents: &[Document],
    request: &Request,
    yes: bool,
    context: &mut Context,
) -> Result<Exit, Error> {
    check_name(name)?;
    let own = user_templates(&context.env).map(TemplatePlace::Folder);
    let place = own.ok_or_else(|| {
        Problem::new(number::CONFIG, Exit::Failure, "neither XDG_CONFIG_HOME nor HOME is set")
            .fix("kubectl kai config templates save NAME --to configmap://NAMESPACE/NAME -f FILE")
    })?;
    let text = text(documents, request);
    let template = Template::kept(name, name.into(), text);
    render::check(&template)?;
    if let Some(kept) = Kept::find(name, context).await?.filter(|kept| kept.place == place) {
        let question = format!("Replace the template {}?", clean(&kept.at));
        let loss = format!("{} is there already", clean(&kept.at));
        context.confirm_loss(&question, &loss, yes)?;
        library::delete(&kept, context).await?;
    }
    let at = library::save(&place, name, &template.text, context).await?;
    context.out.talk(&format!("template {name} saved to {at}; nothing was submitted"));
    let noun = request.kind.map_or("job", |kind| kind.noun);
    context.out.talk(&format!("  use it: kubectl kai submit {noun} NAME --template {name}"));
    Ok(Exit::Ok)
}

/// The text of the template.
fn text(documents: &[Document], request: &Request) -> String {
    let mut text = String::new();
    for document in documents.iter().filter(|document| document.is_workload) {
        let (pods, gpus) = document.demand();
        let pods = count(usize::try_from(pods).unwrap_or(usize::MAX), "pod");
        let gpus = if gpus.is_zero() { String::new() } else { format!(" with {}", gpus.words()) };
        text += &format!("# about: {} of {pods}{gpus}\n", document.kind());
    }
    let mut between = "";
    for document in documents {
        let mut object = document.object.clone();
        leave_places(&mut object, request);
        text += between;
        text += &places(&yaml::print(&object), request);
        between = "---\n";
    }
    text
}

/// Marks where a command belongs, and takes out what a default gave.
fn leave_places(object: &mut Value, request: &Request) {
    let metas = sites(object).into_iter().filter_map(|site| site.meta);
    let metas: Vec<String> = metas.chain(["/metadata".to_owned()]).collect();
    for meta in metas {
        let at = format!("{meta}/labels");
        if let Some(Value::Object(labels)) =
            object.pointer_mut(&at).filter(|_| !request.queue_is_flag)
        {
            labels.remove(names::QUEUE);
            if labels.is_empty() {
                ensure(object, &meta).remove("labels");
            }
        }
    }
    if request.command.is_empty() {
        return;
    }
    let containers = sites(object).into_iter().flat_map(|site| site.containers);
    for container in containers.collect::<Vec<_>>() {
        let container = ensure(object, &container);
        if container.get("command") == Some(&json!(request.command)) {
            container.insert("command".into(), json!(COMMAND));
        }
    }
    if object["spec"]["entrypoint"] == json!(shell(&request.command)) {
        object["spec"]["entrypoint"] = json!(ENTRYPOINT);
    }
}

/// Makes places of the marks; what looks like the language of templates otherwise is text.
fn places(yaml: &str, request: &Request) -> String {
    let mut out = String::new();
    for line in yaml.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let made = line.split_once(": ").and_then(|(key, value)| {
            let value = value.trim().trim_matches('"');
            let place = match value {
                COMMAND => format!("command if command else {}", json!(request.command)),
                ENTRYPOINT => {
                    format!("entrypoint if command else {}", json!(shell(&request.command)))
                }
                NAME => "name".to_owned(),
                value => format!("name ~ {}", json!(value.strip_prefix(NAME)?)),
            };
            Some(format!("{key}: {{{{ {place} }}}}"))
        });
        let is_language = |line: &str| ["{{", "{%", "{#"].iter().any(|open| line.contains(open));
        match made {
            Some(made) => out += &made,
            None if is_language(line) => out += &format!("{{% raw %}}{line}{{% endraw %}}"),
            None => out += line,
        }
        out += end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_commands_become_places_and_braces_stay_braces() {
        let request = Request {
            command: vec!["python".into(), "a \"b\"".into()],
            queue_is_flag: false,
            ..Request::default()
        };
        let object = json!({"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": NAME, "labels": {"kai.scheduler/queue": "default-queue"}},
            "spec": {"template": {"spec": {"containers": [
                {"name": "main", "image": "i", "command": request.command, "args": ["{{ x }}"]}],
                "volumes": [{"name": "v", "configMap": {"name": format!("{NAME}-code")}}]}}}});
        let made = text(&[Document::new(object, "test")], &request);
        let expect = "# about: Job of 1 pod
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ name }}
spec:
  template:
    spec:
      containers:
      - name: main
        image: i
        command: {{ command if command else [\"python\",\"a \\\"b\\\"\"] }}
        args:
{% raw %}        - \"{{ x }}\"{% endraw %}
      volumes:
      - name: v
        configMap:
          name: {{ name ~ \"-code\" }}
";
        assert_eq!(made, expect);
    }
}
