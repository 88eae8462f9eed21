//! Describes the view as a state that keys and news change. Pure: what keys ask of the cluster is handed back.

use crate::commands::top::live::picture::{Letters, Node, Picture, Queue, Work};

/// A key, as far as it means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands::top) enum Key {
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Tab,
    BackTab,
    Backspace,
    Interrupt,
    Char(char),
}

/// A part of the screen that can be moved in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Pane {
    Nodes,
    Queues,
    #[default]
    Works,
}

impl Pane {
    pub(super) const ALL: [Self; 3] = [Self::Nodes, Self::Queues, Self::Works];

    fn at(self) -> usize {
        match self {
            Self::Nodes => 0,
            Self::Queues => 1,
            Self::Works => 2,
        }
    }
}

/// A command whose answer is shown on a page of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// The words after `kubectl kai`.
    pub(super) words: Vec<String>,
    pub(super) namespace: Option<String>,
}

impl Asked {
    /// The command as somebody would type it.
    pub(super) fn title(&self) -> String {
        let within = self.namespace.iter().flat_map(|name| ["-n", name]);
        let words = self.words.iter().map(String::as_str).chain(within);
        std::iter::once("kubectl kai").chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// Says what is to be done after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Nothing,
    Quit,
    Interrupt,
    /// Run a command, and show what it says.
    Ask(Asked),
}

/// A page above the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) title: String,
    /// None while the answer is not there yet.
    pub(super) lines: Option<Vec<String>>,
    pub(super) top: usize,
}

/// Says where somebody is in a pane.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// Entries that are shown, by their places in the picture.
    pub(super) shown: Vec<usize>,
    /// The place among these of the chosen one.
    pub(super) chosen: usize,
    /// Names the chosen one, which it stays when others come and go.
    name: String,
    /// The first row that is seen.
    pub(super) top: usize,
}

/// The view.
#[derive(Clone, Debug, Default)]
pub(in crate::commands::top) struct Screen {
    pub(super) picture: Picture,
    /// The letter of each workload on the map.
    pub(super) letters: Vec<Option<char>>,
    known: Letters,
    pub(super) pane: Pane,
    places: [Place; 3],
    /// True while all workloads are listed, and not those alone that wait.
    pub(super) is_all: bool,
    pub(super) filter: String,
    /// True while the filter is typed.
    pub(super) is_typing: bool,
    pub(super) page: Option<Page>,
    /// Says why the picture may be old.
    pub(super) trouble: Option<String>,
    /// Nodes beside each other, and rows of each pane and of a page: as they were drawn last.
    pub(super) columns: usize,
    pub(super) rows: [usize; 3],
    pub(super) page_rows: usize,
}

impl Screen {
    /// Takes a new picture.
    pub(super) fn show(&mut self, picture: Picture) {
        self.known.give(&picture.works);
        self.letters = picture.works.iter().map(|work| self.known.of(work)).collect();
        self.picture = picture;
        self.refresh();
    }

    /// The entries of a pane, and where somebody is in it.
    pub(super) fn place(&self, pane: Pane) -> &Place {
        &self.places[pane.at()]
    }

    /// Notes how a pane was drawn, and moves its first row so that what is chosen is seen.
    pub(super) fn fit(&mut self, pane: Pane, rows: usize) {
        self.rows[pane.at()] = rows;
        let columns = if pane == Pane::Nodes { self.columns.max(1) } else { 1 };
        let place = &mut self.places[pane.at()];
        let row = place.chosen / columns;
        let all = place.shown.len().div_ceil(columns);
        place.top = place.top.min(row).max((row + 1).saturating_sub(rows));
        place.top = place.top.min(all.saturating_sub(rows));
    }

    /// The chosen workload.
    pub(super) fn work(&self) -> Option<&Work> {
        let place = self.place(Pane::Works);
        self.picture.works.get(*place.shown.get(place.chosen)?)
    }

    /// The chosen node.
    pub(super) fn node(&self) -> Option<&Node> {
        let place = self.place(Pane::Nodes);
        self.picture.nodes.get(*place.shown.get(place.chosen)?)
    }

    /// The chosen queue.
    pub(super) fn queue(&self) -> Option<&Queue> {
        let place = self.place(Pane::Queues);
        self.picture.queues.get(*place.shown.get(place.chosen)?)
    }

    /// Does what a key says.
    pub(super) fn press(&mut self, key: Key) -> Act {
        if key == Key::Interrupt {
            return Act::Interrupt;
        }
        if self.is_typing {
            self.type_filter(key);
            return Act::Nothing;
        }
        if self.page.is_some() {
            return self.turn_page(key);
        }
        match key {
            Key::Char('q') => return Act::Quit,
            Key::Char('/') => self.is_typing = true,
            Key::Char('?') => self.page = Some(help()),
            Key::Char('w') => {
                self.is_all = self.pane == Pane::Works && !self.is_all;
                self.pane = Pane::Works;
                self.refresh();
            }
            Key::Char('e' | 'd' | 'l') | Key::Enter => return self.ask(key),
            Key::Escape => {
                self.filter.clear();
                self.refresh();
            }
            Key::Tab => self.go_to(1),
            Key::BackTab => self.go_to(2),
            _ => self.step(key),
        }
        Act::Nothing
    }

    /// Takes the answer to what was asked last.
    pub(super) fn answer(&mut self, asked: &Asked, lines: Vec<String>) {
        if let Some(page) = self.page.as_mut().filter(|page| page.title == asked.title()) {
            page.top = page.top.min(lines.len().saturating_sub(1));
            page.lines = Some(lines);
        }
    }

    fn go_to(&mut self, steps: usize) {
        self.pane = Pane::ALL[(self.pane.at() + steps) % Pane::ALL.len()];
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Enter | Key::Tab => self.is_typing = false,
            Key::Escape => {
                self.is_typing = false;
                self.filter.clear();
            }
            Key::Backspace if self.filter.pop().is_none() => self.is_typing = false,
            Key::Char(letter) => self.filter.push(letter),
            Key::Up | Key::Down => self.step(key),
            _ => {}
        }
        self.refresh();
    }

    fn turn_page(&mut self, key: Key) -> Act {
        match key {
            Key::Char('q') | Key::Escape | Key::Enter | Key::Backspace => self.page = None,
            Key::Char('e' | 'd' | 'l') => return self.ask(key),
            _ => {
                let Some(page) = &mut self.page else { return Act::Nothing };
                let last = page.lines.as_ref().map_or(0, Vec::len).saturating_sub(self.page_rows);
                page.top = moved(page.top, last, self.page_rows, 1, key).min(last);
            }
        }
        Act::Nothing
    }

    fn step(&mut self, key: Key) {
        let at = self.pane.at();
        let columns = if self.pane == Pane::Nodes { self.columns.max(1) } else { 1 };
        let place = &mut self.places[at];
        let last = place.shown.len().saturating_sub(1);
        place.chosen = moved(place.chosen, last, self.rows[at], columns, key);
        self.remember();
    }

    /// Asks for what a key wants to know of what is chosen.
    fn ask(&mut self, key: Key) -> Act {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let asked = match (self.pane, key) {
            (Pane::Nodes, Key::Char('e')) => self.node().map(|node| Asked {
                words: words(&["explain", &format!("node/{}", node.name)]),
                namespace: None,
            }),
            (Pane::Nodes, _) => self.node().map(|node| Asked {
                words: words(&["top", "gpus", "--node", &node.name]),
                namespace: None,
            }),
            (Pane::Queues, _) => self.queue().map(|queue| Asked {
                words: words(&["explain", &format!("queue/{}", queue.name)]),
                namespace: None,
            }),
            (Pane::Works, _) => self.work().map(|work| {
                let name = format!("{}/{}", work.kind, work.name);
                let words = match key {
                    Key::Char('e') => words(&["explain", &name]),
                    Key::Char('l') => words(&["logs", &name, "--tail", "200"]),
                    _ => words(&["describe", &name]),
                };
                Asked { words, namespace: Some(work.namespace.clone()) }
            }),
        };
        let Some(asked) = asked else { return Act::Nothing };
        self.page = Some(Page { title: asked.title(), lines: None, top: 0 });
        Act::Ask(asked)
    }

    /// Notes which entry is chosen by its name.
    fn remember(&mut self) {
        for pane in Pane::ALL {
            let place = self.place(pane);
            let name = place.shown.get(place.chosen).map(|at| self.name(pane, *at));
            self.places[pane.at()].name = name.unwrap_or_default();
        }
    }

    fn name(&self, pane: Pane, at: usize) -> String {
        match pane {
            Pane::Nodes => self.picture.nodes[at].name.clone(),
            Pane::Queues => self.picture.queues[at].name.clone(),
            Pane::Works => self.picture.works[at].key(),
        }
    }

    /// Finds out anew what is shown, and stays on what was chosen.
    fn refresh(&mut self) {
        let shown = [self.nodes(), self.queues(), self.works()];
        for (pane, shown) in Pane::ALL.into_iter().zip(shown) {
            let wanted = &self.places[pane.at()].name;
            let same = shown.iter().position(|at| self.name(pane, *at) == *wanted);
            let place = &mut self.places[pane.at()];
            let last = shown.len().saturating_sub(1);
            place.chosen = same.unwrap_or(place.chosen.min(last));
            place.shown = shown;
        }
        self.remember();
    }

    fn nodes(&self) -> Vec<usize> {
        let works = &self.picture.works;
        let is_meant = |node: &Node| {
            let mut holders = node.cells.iter().flat_map(|cell| &cell.holders);
            has(&self.filter, &[&node.name, &node.product, &node.marks])
                || holders.any(|holder| {
                    holder.work.map_or_else(
                        || has(&self.filter, &[&holder.name]),
                        |at| is_about(&self.filter, &works[at]),
                    )
                })
        };
        let nodes = self.picture.nodes.iter().enumerate();
        nodes.filter(|(_, node)| is_meant(node)).map(|(at, _)| at).collect()
    }

    fn queues(&self) -> Vec<usize> {
        let of_work: std::collections::BTreeSet<&str> = self
            .picture
            .works
            .iter()
            .filter(|work| is_about(&self.filter, work))
            .map(|work| work.queue.as_str())
            .collect();
        let is_meant = |queue: &Queue| {
            has(&self.filter, &[&queue.name]) || of_work.contains(queue.name.as_str())
        };
        let queues = self.picture.queues.iter().enumerate();
        queues.filter(|(_, queue)| is_meant(queue)).map(|(at, _)| at).collect()
    }

    /// Those that wait in the order of their turns; of all, the largest first.
    fn works(&self) -> Vec<usize> {
        let works = &self.picture.works;
        let is_meant = |work: &Work| (self.is_all || work.waits) && is_about(&self.filter, work);
        let mut shown: Vec<usize> = (0..works.len()).filter(|at| is_meant(&works[*at])).collect();
        if self.is_all {
            shown.sort_by_key(|at| std::cmp::Reverse(works[*at].gpu_milli));
        } else {
            let turn = |work: &Work| (work.place.is_none(), work.place, work.created);
            shown.sort_by(|a, b| {
                let (a, b) = (&works[*a], &works[*b]);
                (&a.queue, turn(a)).cmp(&(&b.queue, turn(b)))
            });
        }
        shown
    }
}

/// Tells whether one of some texts has the filter in it, whatever the case.
fn has(filter: &str, texts: &[&str]) -> bool {
    if filter.is_empty() {
        return true;
    }
    let filter = filter.to_lowercase();
    texts.iter().any(|text| text.to_lowercase().contains(&filter))
}

/// Tells whether a workload is meant by the filter.
fn is_about(filter: &str, work: &Work) -> bool {
    let Work { name, namespace, kind, queue, user, status, .. } = work;
    has(filter, &[name, namespace, kind, queue, user, status])
}

/// A place after a key: by entries, rows of so many columns, screens of so many rows.
fn moved(at: usize, last: usize, rows: usize, columns: usize, key: Key) -> usize {
    let screen = rows.max(2) - 1;
    let to = match key {
        Key::Up | Key::Char('k') => at.checked_sub(columns).unwrap_or(at),
        Key::Down | Key::Char('j') if at + columns > last && columns > 1 => at,
        Key::Down | Key::Char('j') => at + columns,
        Key::Left | Key::Char('h') => at.saturating_sub(1),
        Key::Right => at + 1,
        Key::PageUp => at.saturating_sub(screen * columns),
        Key::PageDown | Key::Char(' ') => at + screen * columns,
        Key::Home | Key::Char('g') => 0,
        Key::End | Key::Char('G') => last,
        _ => at,
    };
    to.min(last)
}

/// The page on the keys.
fn help() -> Page {
    let lines = [
        "arrows, j k       choose; PgUp PgDn by screens, g G the first and the last",
        "Tab               nodes, queues, workloads",
        "w                 workloads: those that wait, then all",
        "/                 show only what has a text in it; Esc shows all again",
        "",
        "e                 explain what is chosen: a workload, a queue or a node",
        "d, Enter          describe the workload; of a node, each of its GPUs",
        "l                 the last lines of the workload's logs",
        "q, Ctrl-C         quit; q on a page: back",
        "",
        "On the map each sign is a GPU. A letter is the workload that has all of it;",
        "a low bar, or a digit, is a GPU that is shared, and how much of it is held.",
        "A dot is free, ? cannot be read, and ! has a problem. M and m are slices,",
        "held and free. The GPUs of the chosen workload are reversed.",
        "",
        "Bars of queues: in quota, above it, and what of the quota nobody uses.",
    ];
    let lines = lines.iter().map(|line| (*line).to_owned()).collect();
    Page { title: "Keys".to_owned(), lines: Some(lines), top: 0 }
}
