//! Cases of the configuration, both ways.

use kai_api::shard::{ActionConfig, MinRuntime, PlacementStrategy, PluginConfig};
use proptest::prelude::*;

use super::*;

/// Compares what a configuration in Go's spelling, or somebody else's, asks for.
fn check(json: &str, expect: impl Fn(&mut Config), problems: &[&str]) {
    let mut config = Config::default();
    expect(&mut config);
    let settings = read(json.as_bytes(), &Config::default()).expect("a configuration");
    assert_eq!(
        (settings.config, settings.problems),
        (config, problems.iter().map(|one| String::from(*one)).collect())
    );
}

#[test]
fn keys_are_read_in_any_case_and_nulls_as_nothing() {
    check("null", |_| {}, &[]);
    check(
        r#"{"Actions": "allocate", "TIERS": null, "queuedepthperaction": {"allocate": 3}, "unknown": {"tiers": 1}}"#,
        |config| {
            config.actions = kai_engine::Actions { allocate: true, ..kai_engine::Actions::NONE };
            config.queue_depth.allocate = Some(3);
        },
        &[],
    );
}

#[test]
fn what_has_no_effect_is_named() {
    let plugins = r#"{"Name": "gpupack", "disableNodeOrder": true, "DisableJobOrder": false}, {"name": "gpusharingorder"}, {"name": "nodeplacement"}"#;
    check(
        &format!(
            r#"{{"tiers": [{{"plugins": [{plugins}]}}], "scenarioSearchBudgets": {{"maxJobSearchDuration": "4m0s"}}}}"#
        ),
        |_| {},
        &[
            "scenarioSearchBudgets has no effect here: searches are bounded by counted steps",
            "plugins.gpupack.disableNodeOrder has no effect here",
        ],
    );
    assert!(read(b"[]", &Config::default()).is_err());
}

#[test]
fn a_shard_without_wishes_is_the_peers_default() {
    let config = write(&SchedulingShardSpec::default());
    assert_eq!(config["actions"], "allocate, consolidation, reclaim, preempt, stalegangeviction");
    let plugins = config["tiers"][0]["plugins"].as_array().expect("plugins");
    let names: Vec<&str> = plugins.iter().filter_map(|plugin| plugin["name"].as_str()).collect();
    assert_eq!(
        names.join(" "),
        "predicates proportion priority nodeavailability resourcetype podaffinity elastic kubeflow ray \
         subgrouporder taskorder nominatednode dynamicresources minruntime topology snapshot \
         sg-nodelocalgreedy sg-multinodegang gpupack nodeplacement gpusharingorder"
    );
    assert_eq!(plugins[19]["arguments"], json!({"gpu": "binpack", "cpu": "binpack"}));
    assert!(config.as_object().is_some_and(|config| config.len() == 2), "{config}");
}

fn strategy() -> impl Strategy<Value = Option<String>> {
    let words = ["binpack", "spread", "fragmentation", "sprinkle", ""].map(String::from).to_vec();
    prop::option::of(prop::sample::select(words))
}

fn shard() -> impl Strategy<Value = SchedulingShardSpec> {
    let actions = ACTIONS.map(|(name, _)| name).to_vec();
    let plugins =
        ["gpupack", "gpuspread", "gpusharingorder", "nodeplacement", "numa", "reflectjoborder"];
    let actions = prop::collection::btree_map(
        prop::sample::select(actions).prop_map(String::from),
        prop::option::of(any::<bool>())
            .prop_map(|enabled| ActionConfig { enabled, ..ActionConfig::default() }),
        0..3,
    );
    let plugins = prop::collection::btree_map(
        prop::sample::select(plugins.to_vec()).prop_map(String::from),
        prop::option::of(any::<bool>())
            .prop_map(|enabled| PluginConfig { enabled, ..PluginConfig::default() }),
        0..3,
    );
    let runtime = prop::option::of(Just(String::from("90s")));
    let k_value = prop::option::of((0_u32..40).prop_map(|eighths| f64::from(eighths) / 8.0));
    (strategy(), strategy(), actions, plugins, runtime, k_value).prop_map(
        |(gpu, cpu, actions, plugins, runtime, k_value)| SchedulingShardSpec {
            placement_strategy: Some(PlacementStrategy { gpu, cpu }),
            actions,
            plugins,
            min_runtime: Some(MinRuntime {
                reclaim_min_runtime: runtime,
                preempt_min_runtime: None,
            }),
            k_value,
            queue_depth_per_action: [(String::from("reclaim"), 7)].into(),
            ..SchedulingShardSpec::default()
        },
    )
}

proptest! {
    #[test]
    fn a_shard_means_the_same_through_a_file(spec in shard()) {
        let base = Config { restrict_nodes: true, ..Config::default() };
        let live = Settings::of_shard(&spec, &base);
        let text = write(&spec).to_string();
        let filed = read(text.as_bytes(), &base).expect("what is written is read");
        prop_assert_eq!(live.config, filed.config, "{}", text);
        prop_assert_eq!(live.aligning, filed.aligning, "{}", text);
        prop_assert_eq!(live.job_order, filed.job_order, "{}", text);
    }
}
