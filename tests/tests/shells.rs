//! Completion as a user meets it: real bash, zsh and fish on a terminal, through real kubectl and by the static scripts.

use std::{env, fs, os::unix::fs::symlink, path::Path, process, thread};

use kai_tests::{
    control_plane::leave_out,
    daemon::binary,
    sandbox::Sandbox,
    terminal::{Command, Terminal},
};

const BASH_COMPLETION: &str = "/usr/share/bash-completion/bash_completion";
/// The prompt that the settings of every shell set.
const PROMPT: &str = "ready>";
const COLUMNS: u16 = 160;
const ROWS: u16 = 40;

/// A shell, how it is started, and what its settings have to say before completion works.
struct Shell {
    name: &'static str,
    arguments: &'static [&'static str],
    settings: &'static str,
    setup: &'static str,
    /// Makes a shell list all candidates.
    list: &'static str,
}

const SHELLS: [Shell; 3] = [
    Shell {
        name: "bash",
        arguments: &["--rcfile", "settings", "-i"],
        settings: "settings",
        setup: ". /usr/share/bash-completion/bash_completion\n. <(kubectl completion bash)\n\
                . <(kubectl-kai completion bash)\nPS1='ready> '\n",
        list: "\t\t",
    },
    Shell {
        name: "zsh",
        arguments: &["-i"],
        settings: ".zshrc",
        setup: "autoload -U compinit && compinit -u\n. <(kubectl completion zsh)\n\
                . <(kubectl-kai completion zsh)\ncompdef _kubectl-kai kubectl-kai\nPS1='ready> '\n",
        list: "\t",
    },
    Shell {
        name: "fish",
        arguments: &["-i"],
        settings: ".config/fish/config.fish",
        setup: "set -g fish_greeting\nkubectl completion fish | source\n\
                kubectl-kai completion fish | source\nfunction fish_prompt; echo 'ready> '; end\n",
        list: "\t",
    },
];

/// Lists what is typed before Tab, and what the screen shows then.
const CASES: [(&str, &[&str]); 14] = [
    ("kubectl-kai que", &["kubectl-kai queues"]),
    ("kubectl kai que", &["kubectl kai queues"]),
    ("kubectl kai submit pyt", &["submit pytorch"]),
    ("kubectl kai list --kind tenso", &["--kind tensorflow"]),
    ("kubectl kai submit job x --queue ", &["team-a", "8 GPU", "team-b"]),
    ("kubectl kai queues set ", &["research", "team-a"]),
    ("kubectl kai queues create x --parent res", &["--parent research"]),
    ("kubectl kai submit -f mani", &["submit -f manifest.yaml"]),
    ("kubectl kai describe ", &["alpha", "pytorchjob Running", "omega", "job Running"]),
    ("kubectl kai logs alpha --rank ", &["master-0", "worker-0"]),
    ("kubectl kai list -n kube-s", &["-n kube-system"]),
    ("kubectl kai list --context kai-", &["--context kai-sandbox"]),
    ("kubectl kai submit job x --gpu-type NV", &["NVIDIA-H100-80GB-HBM3"]),
    ("kubectl kai submit job x --topology ", &["topology.kubernetes.io/zone", "rack"]),
];

/// A home with a cluster in it.
struct Home {
    folder: tempfile::TempDir,
    path: String,
    sandbox: Sandbox,
}

impl Home {
    fn start() -> Self {
        let sandbox = Sandbox::start(&binary("kubectl-kai"), "2xH100:8", &["--pace", "10"])
            .expect("it starts");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).expect("the folder is ours");
        symlink(binary("kubectl-kai"), bin.join("kubectl-kai")).expect("the folder is ours");
        fs::write(folder.path().join("manifest.yaml"), "").expect("the folder is ours");
        let path = format!("{}:{}", bin.display(), env::var("PATH").unwrap_or_default());
        let home = Self { folder, path, sandbox };
        home.run(&["completion", "install", "--shim-dir", &bin.display().to_string()]);
        home
    }

    fn run(&self, words: &[&str]) {
        let mut command = process::Command::new(binary("kubectl-kai"));
        command.env_clear().env("HOME", self.folder.path()).env("PATH", &self.path);
        let output = command.env("KUBECONFIG", self.sandbox.kubeconfig()).args(words).output();
        let output = output.expect("it starts");
        assert!(output.status.success(), "{words:?}: {output:?}");
    }

    fn shell(&self, shell: &Shell) -> Terminal {
        let home = self.folder.path();
        let settings = home.join(shell.settings);
        let parent = settings.parent().expect("it is in the home");
        fs::create_dir_all(parent).and_then(|()| fs::write(&settings, shell.setup)).expect("ours");
        let command = Command::new(shell.name)
            .args(shell.arguments)
            .env_clear()
            .env("HOME", home)
            .env("PATH", &self.path)
            .env("KUBECONFIG", self.sandbox.kubeconfig())
            .env("LANG", "C.UTF-8")
            .current_dir(home);
        let terminal = Terminal::start(command, COLUMNS, ROWS);
        terminal.wait_for(PROMPT);
        terminal
    }
}

/// Says what a machine lacks for this suite.
fn missing() -> String {
    let path = env::var("PATH").unwrap_or_default();
    let is_there = |name: &str| path.split(':').any(|folder| Path::new(folder).join(name).exists());
    let mut missing =
        ["kubectl", "bash", "zsh", "fish"].map(|name| (name, is_there(name))).to_vec();
    missing.push(("bash-completion", Path::new(BASH_COMPLETION).exists()));
    missing.retain(|(_, is_there)| !is_there);
    missing.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

#[test]
fn tab_completes_in_real_shells() {
    let missing = missing();
    if !missing.is_empty() {
        leave_out("completion in real shells", &format!("this machine lacks {missing}"));
        return;
    }
    let home = Home::start();
    for words in [
        "queues create research --gpu-quota 16 --yes",
        "queues create team-a --parent research --gpu-quota 8 --yes",
        "queues create team-b --parent research --yes",
        "submit pytorch alpha -q team-a --workers 2 --gpu 1 --image i -- sleep 1000000",
        "submit job omega -q team-a --gpu 1 --image i -- sleep 1000000",
        "wait alpha omega --for running",
    ] {
        home.run(&words.split(' ').collect::<Vec<_>>());
    }
    thread::scope(|scope| {
        for shell in &SHELLS {
            let home = &home;
            scope.spawn(move || {
                for (typed, shown) in CASES {
                    check(home, shell, typed, shown);
                }
            });
        }
    });
}

fn check(home: &Home, shell: &Shell, typed: &str, shown: &[&str]) {
    let terminal = home.shell(shell);
    terminal.press(typed);
    terminal.press(shell.list);
    let what = format!("{shown:?} in {} after {typed:?}", shell.name);
    terminal.wait_until(&what, |screen| shown.iter().all(|part| screen.contains(part)));
}
