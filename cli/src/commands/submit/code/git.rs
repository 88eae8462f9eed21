//! A git repository as it is typed, and the container that clones it. Pure.

use serde_json::{Value, json};

use crate::print::error::{Exit, Problem, number};

/// A git repository at a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    url: String,
    /// Branch, tag or commit; the default branch where none is named.
    reference: Option<String>,
    /// The secret with its credentials.
    pub(super) secret: Option<String>,
}

/// Address and reference come as variables, so that no text of theirs is read by the shell.
const CLONE: &str = "set -eu
git init -q .
git remote add origin \"$KAI_GIT_URL\"
if [ -n \"${KAI_GIT_PASSWORD:-}\" ]; then
  git config credential.helper '!f() { echo \"username=${KAI_GIT_USERNAME:-git}\"; echo \"password=$KAI_GIT_PASSWORD\"; }; f'
fi
git fetch -q --depth 1 origin \"$KAI_GIT_REF\"
git checkout -q FETCH_HEAD
git log -1 --format='%H %s'
";
/// The volume with a private key, and its place.
pub(super) const KEY_VOLUME: &str = "kai-git-key";
const KEY_AT: &str = "/var/run/kai-git";

impl Repository {
    /// Reads `URL[@REF]`.
    ///
    /// # Errors
    /// It is no address, or has credentials in it.
    pub(super) fn read(typed: &str, secret: Option<String>) -> Result<Self, Problem> {
        let wrong = |why: &str, fix: &str| {
            let what = format!("--git \"{}\": {why}", without_credentials(typed));
            Err(Problem::new(number::VALUE, Exit::Usage, what).fix(fix))
        };
        // The path begins behind the host, and a reference behind an @ of the path.
        let host = match typed.split_once("://") {
            Some((scheme @ ("https" | "http" | "ssh" | "git"), rest)) => {
                let end = rest.find('/');
                let host = &rest[..end.unwrap_or(rest.len())];
                if scheme.starts_with("http") && host.contains('@') {
                    return wrong(
                        "credentials would stand readable in the workload",
                        "a secret with username and password: --git-secret NAME",
                    );
                }
                end.map(|end| scheme.len() + 3 + end)
            }
            Some((scheme, _)) => {
                return wrong(
                    &format!("{scheme}:// is not known"),
                    "--git https://HOST/REPOSITORY[@REF]",
                );
            }
            None => typed.find(':'),
        };
        let Some(host) = host else {
            return wrong(
                "it is no address of a repository",
                "--git https://HOST/REPOSITORY[@REF]",
            );
        };
        let (head, path) = typed.split_at(host);
        let (path, reference) = match path.rsplit_once('@') {
            Some((path, reference)) => (path, Some(reference)),
            None => (path, None),
        };
        let is_plain = |text: &str| {
            !text.is_empty() && !text.starts_with('-') && text.chars().all(|c| c.is_ascii_graphic())
        };
        if path.len() < 2 || !is_plain(head) || !reference.is_none_or(is_plain) {
            return wrong(
                "it is no address of a repository",
                "--git https://HOST/REPOSITORY[@REF]",
            );
        }
        Ok(Self { url: format!("{head}{path}"), reference: reference.map(str::to_owned), secret })
    }

    /// Tells whether it is reached by ssh, with a key.
    fn is_ssh(&self) -> bool {
        self.url.starts_with("ssh://") || !self.url.contains("://")
    }

    /// Fills the container that clones; the volume that it needs for a key.
    pub(super) fn container(&self, container: &mut Value, path: &str) -> Option<Value> {
        container["command"] = json!(["sh", "-c", CLONE]);
        container["workingDir"] = json!(path);
        let reference = self.reference.as_deref().unwrap_or("HEAD");
        let mut env = vec![
            json!({ "name": "KAI_GIT_URL", "value": self.url }),
            json!({ "name": "KAI_GIT_REF", "value": reference }),
        ];
        let mut volume = None;
        if let Some(secret) = &self.secret {
            if self.is_ssh() {
                let ssh = format!(
                    "ssh -i {KEY_AT}/ssh-privatekey -o StrictHostKeyChecking=accept-new -o IdentitiesOnly=yes"
                );
                env.push(json!({ "name": "GIT_SSH_COMMAND", "value": ssh }));
                if let Some(mounts) = container["volumeMounts"].as_array_mut() {
                    mounts
                        .push(json!({ "name": KEY_VOLUME, "mountPath": KEY_AT, "readOnly": true }));
                }
                volume = Some(json!({
                    "name": KEY_VOLUME,
                    "secret": { "secretName": secret, "defaultMode": 0o400 },
                }));
            } else {
                for (name, key) in
                    [("KAI_GIT_USERNAME", "username"), ("KAI_GIT_PASSWORD", "password")]
                {
                    let of = json!({ "name": secret, "key": key, "optional": key == "username" });
                    env.push(json!({ "name": name, "valueFrom": { "secretKeyRef": of } }));
                }
            }
        }
        container["env"] = json!(env);
        volume
    }
}

/// The address for a message: whatever stands before an @ of the host is left out.
fn without_credentials(typed: &str) -> String {
    match typed.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let (host, path) = rest.split_at(end);
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => typed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, expect: Result<(&str, Option<&str>), &str>) {
        let read = Repository::read(typed, None);
        let read = read.as_ref().map(|one| (one.url.as_str(), one.reference.as_deref()));
        assert_eq!(read.map_err(|problem| problem.what.as_str()), expect);
    }

    #[test]
    fn the_reference_stands_behind_the_path() {
        let https = "https://github.com/org/repo";
        check(https, Ok((https, None)));
        check("https://github.com/org/repo@feature/x", Ok((https, Some("feature/x"))));
        let ssh = "git@github.com:org/repo.git";
        check(ssh, Ok((ssh, None)));
        check("git@github.com:org/repo.git@v1", Ok((ssh, Some("v1"))));
        check("ssh://git@host/repo@abc", Ok(("ssh://git@host/repo", Some("abc"))));
    }

    #[test]
    fn no_credentials_and_no_options() {
        check(
            "https://me:token@github.com/org/repo",
            Err(
                "--git \"https://github.com/org/repo\": credentials would stand readable in the workload",
            ),
        );
        check("repo", Err("--git \"repo\": it is no address of a repository"));
        check(
            "https://h/r@--upload-pack=x",
            Err("--git \"https://h/r@--upload-pack=x\": it is no address of a repository"),
        );
        check("file:///etc", Err("--git \"file:///etc\": file:// is not known"));
    }
}
