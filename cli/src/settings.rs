//! Settings: where each value comes from.
//!
//! Highest first: flag, `KAI_*` environment, `.kai.yaml` of the project (searched upwards to the git root),
//! `~/.config/kai/config.yaml`, for `submit` the cluster's own defaults, the built-in value. Flags are the commands' own; everything below them is [`Settings`].

pub(crate) mod edit;
mod file;
pub(crate) mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::print::error::{Error, Exit, Problem, number};

/// A setting that can have a default: its name is the flag's, its variable `KAI_` and the name in capitals.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
}

const fn key(name: &'static str, about: &'static str) -> Key {
    Key { name, about }
}

/// Every setting.
pub(crate) const KEYS: &[Key] = &[
    key("queue", "queue of submitted workloads"),
    key("namespace", "namespace to work in"),
    key("image", "container image of submitted workloads"),
    key("gpu", "GPUs of a submitted worker"),
    key("cpu", "CPU of a submitted worker"),
    key("memory", "memory of a submitted worker"),
    key("priority", "priority class of submitted workloads"),
    key("color", "auto, always or never"),
];

/// Says where a value was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Env(String),
    File {
        path: PathBuf,
        line: u64,
    },
    /// An object of the cluster, as a user would look for it.
    Cluster(String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Env(name) => f.write_str(name),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Cluster(place) => f.write_str(place),
        }
    }
}

/// A value and where it was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) value: String,
    pub(crate) origin: Origin,
}

/// Everything that stands behind the flags.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// For each key the values that were set, the one that holds first.
    values: BTreeMap<String, Vec<Setting>>,
    aliases: BTreeMap<String, String>,
    mounts: BTreeMap<String, Setting>,
    /// Places of the user's own templates, the first that has one wins.
    pub(crate) templates: Vec<TemplatePlace>,
    /// Says why the project's file was not taken.
    pub(crate) distrust: Option<String>,
}

/// A place that keeps templates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TemplatePlace {
    /// Files `NAME.yaml` of a folder that the user named.
    Folder(PathBuf),
    /// Those of a folder that a project named.
    Project(PathBuf),
    /// Keys `NAME.yaml` of a config map.
    ConfigMap { namespace: String, name: String },
}

/// The beginning of a config map's address.
const CONFIG_MAP: &str = "configmap://";

impl TemplatePlace {
    /// Tells whether its templates go before the compiled-in ones: whoever wrote a project, or one key of a config map,
    /// would say what the user's plain `submit job` makes.
    pub(crate) fn is_of_user(&self) -> bool {
        matches!(self, Self::Folder(_))
    }

    fn give_to_project(&mut self) {
        if let Self::Folder(path) = self {
            *self = Self::Project(std::mem::take(path));
        }
    }

    /// Reads `configmap://NAMESPACE/NAME`, or a folder as seen from another.
    ///
    /// # Errors
    /// The config map has no namespace or no name.
    pub(crate) fn read(text: &str, base: &Path) -> Result<Self, Problem> {
        let Some(address) = text.strip_prefix(CONFIG_MAP) else {
            return Ok(Self::Folder(base.join(text).components().collect()));
        };
        match address.split_once('/') {
            Some((namespace, name))
                if !namespace.is_empty() && !name.is_empty() && !name.contains('/') =>
            {
                Ok(Self::ConfigMap { namespace: namespace.into(), name: name.into() })
            }
            Some(_) | None => {
                let what = format!("\"{text}\" names no config map");
                Err(Problem::new(number::VALUE, Exit::Usage, what)
                    .fix(format!("{CONFIG_MAP}NAMESPACE/NAME")))
            }
        }
    }
}

impl std::fmt::Display for TemplatePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder(path) | Self::Project(path) => write!(f, "{}", path.display()),
            Self::ConfigMap { namespace, name } => write!(f, "{CONFIG_MAP}{namespace}/{name}"),
        }
    }
}

impl Settings {
    /// The environment alone.
    pub(crate) fn from_env(env: &BTreeMap<String, String>) -> Self {
        let mut settings = Self::default();
        for key in KEYS {
            let name = variable(key.name);
            if let Some(value) = env.get(&name).filter(|v| !v.is_empty()) {
                settings.add(key.name, value.clone(), Origin::Env(name));
            }
        }
        settings
    }

    /// The environment and the files; `context` is asked for the name of the kube context where a file has settings by
    /// context.
    ///
    /// # Errors
    /// When a file that is there cannot be read or is wrong; one that is not there is no error.
    pub(crate) fn load(
        env: &BTreeMap<String, String>,
        dir: &Path,
        context: &dyn Fn() -> Option<String>,
    ) -> Result<Self, Error> {
        let mut settings = Self::from_env(env);
        let project = project_file(dir).map(|path| (path, true));
        let user = user_file(env).map(|path| (path, false));
        for (path, of_project) in [project, user].into_iter().flatten() {
            let file = match file::read(&path, of_project)? {
                file::Found::File(file) => file,
                file::Found::Distrusted(why) => {
                    settings.distrust = Some(why);
                    continue;
                }
                file::Found::Nothing => continue,
            };
            if of_project {
                check_project(&path, &file)?;
            }
            let context = if file.contexts.is_empty() { None } else { context() };
            let before = settings.templates.len();
            settings.absorb(&path, file, context.as_deref())?;
            let places = settings.templates.iter_mut().skip(before);
            places.filter(|_| of_project).for_each(TemplatePlace::give_to_project);
        }
        settings.templates.extend(user_templates(env).map(TemplatePlace::Folder));
        Ok(settings)
    }

    fn absorb(
        &mut self,
        path: &Path,
        file: file::File,
        context: Option<&str>,
    ) -> Result<(), Problem> {
        let matching = file
            .contexts
            .into_iter()
            .filter(|(glob, _)| context.is_some_and(|context| matches(glob, context)))
            .map(|(_, defaults)| defaults);
        for defaults in matching.chain([file.defaults]) {
            for (name, value) in defaults {
                let line = value.line;
                self.add(&name, value.text, Origin::File { path: path.into(), line });
            }
        }
        for (name, expansion) in file.aliases {
            self.aliases.entry(name).or_insert(expansion);
        }
        for (name, mount) in file.mounts {
            let origin = Origin::File { path: path.into(), line: mount.line };
            // The user's own file comes last, and a word of his means what he says: no project gives it another volume.
            self.mounts.insert(name, Setting { value: mount.text, origin });
        }
        let base = path.parent().unwrap_or(path);
        for place in &file.templates {
            let place = TemplatePlace::read(place, base).map_err(|problem| {
                problem.line(format!("under templates: in {}", path.display()))
            })?;
            self.templates.push(place);
        }
        Ok(())
    }

    pub(crate) fn add(&mut self, name: &str, value: String, origin: Origin) {
        self.values.entry(name.into()).or_default().push(Setting { value, origin });
    }

    /// The value that holds.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        self.values.get(name).and_then(|all| all.first())
    }

    /// The value that holds of each key that was set.
    pub(crate) fn held(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.values.iter().filter_map(|(name, all)| Some((name.as_str(), all.first()?)))
    }

    /// The words that an alias stands for.
    pub(crate) fn alias(&self, name: &str) -> Option<&str> {
        self.aliases.get(name).map(String::as_str)
    }

    /// The volume that a name of `-m` stands for.
    pub(crate) fn mount(&self, name: &str) -> Option<&Setting> {
        self.mounts.get(name)
    }

    /// The names that `-m` knows.
    pub(crate) fn mounts(&self) -> impl Iterator<Item = &str> {
        self.mounts.keys().map(String::as_str)
    }

    /// Every value that was set, the one that holds first.
    pub(crate) fn all(&self, name: &str) -> &[Setting] {
        self.values.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Checks that a project's file sets nothing that is the user's alone: whoever wrote a repository would say which cluster
/// is meant, and what the user's own words run, such as `wait --exec`.
fn check_project(path: &Path, file: &file::File) -> Result<(), Problem> {
    let set = [("contexts", file.contexts.is_empty()), ("aliases", file.aliases.is_empty())];
    let Some((what, _)) = set.iter().find(|(_, is_empty)| !is_empty) else { return Ok(()) };
    let what = format!("{}: a project file may not set {what}", path.display());
    Err(Problem::new(number::CONFIG, Exit::Usage, what)
        .fix("move it to the user file: kubectl kai config path"))
}

/// The environment variable of a setting.
pub(crate) fn variable(name: &str) -> String {
    format!("KAI_{}", name.to_uppercase().replace('-', "_"))
}

/// The nearest `.kai.yaml`, from `dir` upwards to the root of the git repository.
pub(crate) fn project_file(dir: &Path) -> Option<PathBuf> {
    for folder in dir.ancestors() {
        let file = folder.join(".kai.yaml");
        if file.is_file() {
            return Some(file);
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

/// The user's own file, whether or not it is there.
pub(crate) fn user_file(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let set = |name: &str| env.get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let root = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(root.join("kai/config.yaml"))
}

/// The user's own folder of templates, whether or not it is there.
pub(crate) fn user_templates(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    Some(user_file(env)?.with_file_name("templates"))
}

/// Tells whether a name matches a pattern with `*` for any run of characters.
pub(crate) fn matches(glob: &str, name: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_project_file_that_everybody_may_write_is_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, below) = (folder.path().join(".kai.yaml"), folder.path().join("a/b"));
        write(&path, "defaults: {queue: evil}\ntemplates: [tpl]\n").expect("the folder is ours");
        let load = |mode: u32| {
            set_permissions(&path, Permissions::from_mode(mode)).expect("the file is ours");
            Settings::load(&BTreeMap::new(), &below, &|| None).expect("it is right")
        };
        let taken = load(0o644);
        assert_eq!(taken.get("queue").map(|set| set.value.as_str()), Some("evil"));
        assert_eq!(taken.templates, [TemplatePlace::Project(folder.path().join("tpl"))]);
        assert_eq!(taken.distrust, None);
        let left = load(0o666);
        assert_eq!((left.get("queue"), left.templates.len()), (None, 0));
        assert!(left.distrust.expect("it says why").contains("chmod o-w"));
    }

    #[test]
    fn a_project_gives_no_volume_of_the_users_another_meaning() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (project, config) = (folder.path().join("p"), folder.path().join("c/kai"));
        for folder in [&project, &config] {
            std::fs::create_dir_all(folder).expect("the folder is ours");
        }
        let theirs = "mounts: {data: 'host:///:/data', code: 'pvc://code:/code'}\n";
        write(project.join(".kai.yaml"), theirs).expect("the folder is ours");
        write(config.join("config.yaml"), "mounts: {data: 'pvc://data:/data:ro'}\n").expect("ours");
        let home = folder.path().join("c").display().to_string();
        let env = [("XDG_CONFIG_HOME".to_owned(), home)].into();
        let settings = Settings::load(&env, &project, &|| None).expect("they are right");
        let volume = |name: &str| settings.mount(name).map(|set| set.value.as_str());
        assert_eq!(volume("data"), Some("pvc://data:/data:ro"));
        assert_eq!(volume("code"), Some("pvc://code:/code"));
    }
}
