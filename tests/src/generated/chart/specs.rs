//! Specs that the chart puts together from values: those of the Config and of the default shard.

/// Fields of the Config, each with the value that it has.
pub(super) const CONFIG: [(&str, &str); 20] = [
    ("namespace", ".Release.Namespace"),
    ("admission.gpuSharing", ".Values.global.gpuSharing"),
    ("admission.blockNvidiaVisibleDevices", ".Values.global.blockNvidiaVisibleDevices"),
    ("admission.gpuFractionRuntimeClassName", ".Values.admission.gpuFractionRuntimeClassName"),
    ("admission.gpuPodRuntimeClassName", ".Values.admission.gpuPodRuntimeClassName"),
    ("nodeScaleAdjuster.service.enabled", ".Values.global.clusterAutoscaling"),
    ("nodeScaleAdjuster.args.scalingPodImage", "(.Values.nodescaleadjuster).scalingPodImage"),
    ("podGrouper.args.genericKartaFallback", ".Values.podgrouper.genericKartaFallback"),
    // It is left out where it does not hold, as the command line's Config leaves it out.
    ("global.openshift", r#"(include "kai.isOpenshift" . | eq "true" | ternary true nil)"#),
    ("global.queueLabelKey", ".Values.podgrouper.queueLabelKey"),
    ("global.nodePoolLabelKey", ".Values.global.nodePoolLabelKey"),
    ("global.namespaceLabelSelector", ".Values.global.namespaceLabelSelector"),
    ("global.podLabelSelector", ".Values.global.podLabelSelector"),
    ("prometheus.externalPrometheusUrl", "(.Values.prometheus).externalPrometheusUrl"),
    ("binder.cdiEnabled", ".Values.binder.cdiEnabled"),
    ("binder.plugins", ".Values.binder.plugins"),
    ("binder.volumeBindingTimeoutSeconds", ".Values.binder.volumeBindingTimeoutSeconds"),
    ("binder.resourceReservation.appLabel", ".Values.global.resourceReservation.appLabel"),
    (
        "binder.resourceReservation.runtimeClassName",
        "(kindIs \"invalid\" .Values.binder.runtimeClassName | ternary (.Values.binder.resourceReservation).runtimeClassName .Values.binder.runtimeClassName)",
    ),
    ("binder.resourceReservation.podResources", ".Values.binder.resourceReservationPodResources"),
];

/// Fields of the default shard.
pub(super) const SHARD: [(&str, &str); 5] = [
    ("partitionLabelValue", r#""""#),
    (
        "placementStrategy",
        r#"(kindIs "map" .Values.scheduler.placementStrategy | ternary .Values.scheduler.placementStrategy (dict "gpu" .Values.scheduler.placementStrategy "cpu" .Values.scheduler.placementStrategy))"#,
    ),
    ("args", ".Values.scheduler.args"),
    ("plugins", ".Values.scheduler.plugins"),
    ("actions", ".Values.scheduler.actions"),
];
