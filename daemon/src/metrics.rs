//! Metrics that are served, and what is said of each in the reference.

use std::sync::{Arc, Mutex, PoisonError};

use prometheus::core::Collector;
use prometheus::proto::{MetricFamily, MetricType};
use prometheus::{Error, Registry};

/// Says what a metric is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The name, with its prefix.
    pub name: String,
    /// Prometheus' word for its kind, as `counter`.
    pub kind: &'static str,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// Says what it measures.
    pub help: String,
}

/// Holds the metrics of a daemon; what is cloned is one.
#[derive(Clone, Debug, Default)]
pub struct Register {
    registry: Registry,
    described: Arc<Mutex<Vec<Described>>>,
}

impl Register {
    /// Serves a metric from now on, or all of a collector.
    ///
    /// # Errors
    /// Where its name is taken or none.
    pub fn add(&self, collector: impl Collector + 'static) -> Result<(), Error> {
        let families = collector.collect();
        let kind = |name: &str| {
            let family = families.iter().find(|family| family.name() == name);
            match family.map(MetricFamily::get_field_type) {
                Some(MetricType::COUNTER) => "counter",
                Some(MetricType::HISTOGRAM) => "histogram",
                _ => "gauge",
            }
        };
        let all: Vec<_> = collector
            .desc()
            .into_iter()
            .map(|desc| Described {
                name: desc.fq_name.clone(),
                kind: kind(&desc.fq_name),
                labels: desc.variable_labels.clone(),
                help: desc.help.clone(),
            })
            .collect();
        self.registry.register(Box::new(collector))?;
        self.described.lock().unwrap_or_else(PoisonError::into_inner).extend(all);
        Ok(())
    }

    /// Reads all.
    pub fn gather(&self) -> Vec<MetricFamily> {
        self.registry.gather()
    }

    /// Says what each is, in the order in which they were added.
    pub fn described(&self) -> Vec<Described> {
        self.described.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
