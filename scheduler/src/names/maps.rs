//! Says which config maps tell a container the GPUs that it shares.

use kai_api::shared_gpu::{Target, capabilities_map, variables_map};

/// Says why a share cannot be given to a pod that admission has not prepared.
///
/// # Source
/// docs/contract.md 4.7: without the annotation there is no name under which config maps could be found.
pub const NOT_PREPARED: &str = "the pod was created while the admission webhook for shared GPUs was off, and no container of \
                                it would see its device: delete it and create it again";

/// The config maps of a pod that shares GPUs, as admission has written them into its containers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Maps {
    /// The pod's annotation `runai/shared-gpu-configmap`.
    pub prefix: Box<str>,
    /// The container that gets the device.
    pub target: Target,
    /// The container takes the devices from the first config map by their key, else all of the second.
    pub devices_by_key: bool,
}

impl Maps {
    /// The config map to which variables of the container refer one by one.
    pub fn capabilities(&self) -> String {
        capabilities_map(&self.prefix, self.target)
    }

    /// The config map of which the container takes all variables.
    pub fn variables(&self) -> String {
        variables_map(&self.prefix, self.target)
    }
}
