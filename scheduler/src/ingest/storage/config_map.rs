//! `ConfigMap`: only whether it is there.

use super::Needs;
use crate::ingest::{Context, Kind, object::Named};

impl Needs {
    /// A config map is there.
    pub(in crate::ingest) fn apply_config_map(
        &mut self,
        context: &mut Context,
        wire: &Named<'_>,
    ) -> String {
        let meta = &wire.metadata;
        let key: Box<str> = meta.key().into();
        let generation = context.generation(Kind::ConfigMap);
        if self.config_maps.insert(key.clone(), generation).is_none() {
            self.config_map_changed(&key);
        }
        meta.resource_version.to_string()
    }

    /// A config map is gone.
    pub(in crate::ingest) fn remove_config_map(&mut self, key: &str) {
        if self.config_maps.remove(key).is_some() {
            self.config_map_changed(key);
        }
    }

    /// Takes out what was not in the full list that is complete now.
    pub(in crate::ingest) fn end_config_maps(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::ConfigMap);
        let gone = self.config_maps.iter().filter(|(_, seen)| **seen != generation);
        for name in gone.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            self.remove_config_map(&name);
        }
    }
}
