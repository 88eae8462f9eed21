//! The flags of commands that print: what is shown of what was found, and whether it is followed.

/// Flags of a command that prints a report.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportFlags {
    /// Print what a jq expression makes of the JSON, texts without quotes
    #[arg(long, value_name = "EXPRESSION")]
    pub(crate) jq: Option<String>,
}

/// Flags of a command that prints a table.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct SheetFlags {
    /// Print what a jq expression makes of the JSON, texts without quotes
    #[arg(long, value_name = "EXPRESSION")]
    pub(crate) jq: Option<String>,
    /// Sort by a column, or by a field of the JSON such as .created; with - in front, downwards
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub(crate) sort_by: Option<String>,
    /// Print the first ones only
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print no header line
    #[arg(long)]
    pub(crate) no_headers: bool,
}

impl SheetFlags {
    /// The first flag that is given and arranges rows, for what has none.
    pub(crate) fn of_rows(&self) -> Option<&'static str> {
        [
            ("--sort-by", self.sort_by.is_some()),
            ("--limit", self.limit.is_some()),
            ("--no-headers", self.no_headers),
        ]
        .into_iter()
        .find_map(|(flag, is_given)| is_given.then_some(flag))
    }

    /// The same as flags of a list, whose objects show no labels.
    pub(crate) fn list(&self) -> ListFlags {
        ListFlags { sheet: self.clone(), show_labels: false }
    }
}

/// Flags of a command that prints a list of objects.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ListFlags {
    #[command(flatten)]
    pub(crate) sheet: SheetFlags,
    /// Add a column with the labels
    #[arg(long)]
    pub(crate) show_labels: bool,
}

/// Flags of a command that can go on looking.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct WatchFlags {
    /// Go on, and print what changes below
    #[arg(short, long)]
    pub(crate) watch: bool,
    /// Go on, and draw the whole anew in place; needs a terminal
    #[arg(long, conflicts_with = "watch")]
    pub(crate) live: bool,
}

impl WatchFlags {
    /// Tells whether the command goes on.
    pub(crate) fn is_on(self) -> bool {
        self.watch || self.live
    }
}
