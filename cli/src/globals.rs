//! The flags that every command takes.

use crate::print::output::Color;

/// Flags that every command takes; a flag means one thing in every command.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Common flags")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Globals {
    /// Namespace to work in
    #[arg(short, long, global = true, value_name = "NS")]
    pub namespace: Option<String>,
    /// All namespaces
    #[arg(short = 'A', long, global = true)]
    pub all_namespaces: bool,
    /// Kubeconfig context
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// Kubeconfig file
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub kubeconfig: Option<String>,
    /// table, wide, json, yaml, name, csv, jsonpath=TEMPLATE or custom-columns=SPEC
    #[arg(short, long, global = true, value_name = "FORMAT")]
    pub output: Option<String>,
    /// When to colour
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        hide_possible_values = true,
        help = "When to colour: auto, always, never"
    )]
    pub color: Option<Color>,
    /// Draw bars and trees with ASCII characters only
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Print data and errors only
    #[arg(long, global = true)]
    pub quiet: bool,
    /// Log each request on stderr; twice, also what libraries do
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Kubeconfig cluster
    #[arg(long, global = true, value_name = "NAME", hide = true)]
    pub cluster: Option<String>,
    /// Kubeconfig user
    #[arg(long, global = true, value_name = "NAME", hide = true)]
    pub user: Option<String>,
    /// Address of the API server
    #[arg(short, long, global = true, value_name = "URL", hide = true)]
    pub server: Option<String>,
    /// Bearer token
    #[arg(long, global = true, value_name = "TOKEN", hide = true)]
    pub token: Option<String>,
    /// User to impersonate
    #[arg(long = "as", global = true, value_name = "USER", hide = true)]
    pub impersonate: Option<String>,
    /// Group to impersonate, repeatable
    #[arg(long = "as-group", global = true, value_name = "GROUP", hide = true)]
    pub impersonate_groups: Vec<String>,
    /// Certificate authority of the API server
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath, hide = true)]
    pub certificate_authority: Option<String>,
    /// Do not check the certificate of the API server
    #[arg(long, global = true, hide = true)]
    pub insecure_skip_tls_verify: bool,
    /// Name expected in the certificate of the API server
    #[arg(long, global = true, value_name = "NAME", hide = true)]
    pub tls_server_name: Option<String>,
    /// Longest wait for one request, as 5s or 1m
    #[arg(long, global = true, value_name = "DURATION", hide = true)]
    pub request_timeout: Option<String>,
    /// Folder for the completion cache
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath, hide = true)]
    pub cache_dir: Option<String>,
}
