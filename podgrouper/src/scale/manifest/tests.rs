//! A pod that waits as YAML in, its scaling pod as YAML out.

use serde_json::{Value, json};

use super::scaling_pod;
use crate::object::Object;
use crate::scale::Settings;
use crate::scale::waiting::Template;
use crate::store::Key;

fn made(name: &str, waiting: &str, settings: &Settings) -> Value {
    let waiting: Value = serde_saphyr::from_str(waiting).expect("it is YAML");
    let waiting = Object::new(waiting);
    let pod = Template::of(&waiting).expect("it asks for a share");
    let of = Key::new(waiting.namespace(), waiting.name());
    scaling_pod(name, &of, &pod, settings, "registry/kai:1")
}

const WAITING: &str = "
metadata:
  {name: notebook, namespace: team, labels: {app: web}, annotations: {gpu-fraction: '0.5', gpu-fraction-num-devices: '2'}}
spec:
  initContainers:
    - {resources: {requests: {cpu: '3', memory: 1Gi}}}
    - {restartPolicy: Always, resources: {requests: {cpu: 100m}}}
  containers:
    - {resources: {requests: {cpu: '1', memory: 2Gi, rdma/hca: '1'}, limits: {rdma/hca: '1'}}}
    - {resources: {requests: {cpu: 500m}}}
  overhead: {memory: 128Mi}
  nodeSelector: {pool: a}
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: zone, labelSelector: {matchLabels: {app: web}}}
        - {topologyKey: zone, namespaces: [other], labelSelector: {}}
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 1, podAffinityTerm: {topologyKey: zone, labelSelector: {}}}
  topologySpreadConstraints:
    - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [x],
       labelSelector: {matchLabels: {app: web}}}
";

const SCALING: &str = "
apiVersion: v1
kind: Pod
metadata:
  name: team-notebook
  namespace: kai-scale-adjust
  labels:
    app: scaling-pod
    kai.scheduler/scaling-class: CLASS
    shared-gpu-pod-name: notebook
    shared-gpu-pod-namespace: team
  annotations: {}
spec:
  serviceAccountName: kai-scale-adjust
  automountServiceAccountToken: false
  enableServiceLinks: false
  restartPolicy: OnFailure
  terminationGracePeriodSeconds: 0
  containers:
    - name: scaling-pod
      image: registry/kai:1
      imagePullPolicy: IfNotPresent
      command: [kai-reservation, --exit]
      resources:
        requests: {cpu: '3', memory: '2176Mi', nvidia.com/gpu: '2', rdma/hca: '1'}
        limits: {nvidia.com/gpu: '2', rdma/hca: '1'}
      securityContext:
        {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
  securityContext:
    {runAsNonRoot: true, runAsUser: 10000, runAsGroup: 10000, seccompProfile: {type: RuntimeDefault}}
  nodeSelector: {pool: a}
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: zone, namespaces: [team], labelSelector: {matchLabels: {app: web}}}
        - {topologyKey: zone, namespaces: [other], labelSelector: {}}
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 1, podAffinityTerm: {topologyKey: zone, namespaces: [team], labelSelector: {}}}
  topologySpreadConstraints:
    - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule,
       labelSelector: {matchLabels: {kai.scheduler/scaling-class: CLASS}}}
";

#[test]
fn a_scaling_pod_needs_what_its_pod_needs() {
    let made = made("team-notebook", WAITING, &Settings::default());
    let class = made["metadata"]["labels"]["kai.scheduler/scaling-class"].as_str();
    let expect = SCALING.replace("CLASS", class.expect("it has a class"));
    let expect: Value = serde_saphyr::from_str(&expect).expect("it is YAML");
    assert_eq!(made, expect, "{made:#}");
}

#[test]
fn an_image_of_the_config_ends_by_itself_and_openshift_sets_its_own_security() {
    let settings =
        Settings { image: Some("other:2".into()), is_openshift: true, ..Settings::default() };
    let made = made("n", WAITING, &settings);
    let container = &made["spec"]["containers"][0];
    assert_eq!(container["image"], "other:2");
    assert!(container["command"].is_null() && container["securityContext"].is_null());
    assert!(made["spec"]["securityContext"].is_null());
}

#[test]
fn names_too_long_for_labels_stand_in_annotations() {
    let name = "x".repeat(64);
    let made = made(
        "n",
        &WAITING.replace("name: notebook", &format!("name: {name}")),
        &Settings::default(),
    );
    let scaling = crate::scale::standing::Standing::of(&Object::new(made.clone()));
    assert_eq!(scaling.of, Some(Key::new("team", &name)));
    let label = made["metadata"]["labels"]["shared-gpu-pod-name"].as_str();
    assert!(label.is_some_and(|label| label.len() == 16));
}

/// The API server refuses a pod that asks for huge pages and does not limit them.
#[test]
fn what_cannot_be_lent_is_limited_to_what_is_asked_for() {
    let asks = "rdma/hca: '1', hugepages-2Mi: 4Mi}, limits";
    let waiting = WAITING.replace("rdma/hca: '1'}, limits", asks);
    let made = made("n", &waiting, &Settings::default());
    let resources = &made["spec"]["containers"][0]["resources"];
    for (table, cpu) in [("requests", json!("3")), ("limits", Value::Null)] {
        assert_eq!(resources[table]["hugepages-2Mi"], "4Mi", "{resources}");
        assert_eq!(resources[table]["cpu"], cpu, "{resources}");
    }
}

/// A term that says by labels in which namespaces it looks at pods looks at none besides.
#[test]
fn a_term_with_a_selector_of_namespaces_keeps_it_alone() {
    let labels = json!({"matchLabels": {"team": "a"}});
    let waiting =
        WAITING.replace("namespaces: [other]", "namespaceSelector: {matchLabels: {team: a}}");
    let made = made("n", &waiting, &Settings::default());
    let terms =
        &made["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    assert_eq!(terms[0]["namespaces"], json!(["team"]), "{terms}");
    assert_eq!(terms[1]["namespaceSelector"], labels, "{terms}");
    assert!(terms[1]["namespaces"].is_null(), "{terms}");
}
