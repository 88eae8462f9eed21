//! Places where a scenario runs: the embedded API server, or a real one.

use anyhow::{Context, Result};
use kai_api::names::namespace;
use kai_sandbox::server::{Options, Server};
use kube::{Client, api::DynamicObject};

use super::object;
use crate::{
    cluster::NAMESPACE,
    control_plane::{ControlPlane, client},
};

/// An API server with the product's definitions, roles and defaults.
#[derive(Debug)]
pub enum Place {
    /// In this process.
    Embedded(Server),
    /// kube-apiserver and etcd.
    Real(ControlPlane),
}

/// Kinds that scenarios make, dependants first.
const KINDS: [&str; 23] = [
    "Job",
    "Pod",
    "ResourceClaim",
    "ResourceSlice",
    "DeviceClass",
    "PodGroup",
    "BindRequest",
    "Queue",
    "Topology",
    "SchedulingShard",
    "PriorityClass",
    "PodDisruptionBudget",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "CSIStorageCapacity",
    "CSIDriver",
    "ConfigMap",
    "DailyRecord",
    "Event",
    "NodeResourceTopology",
    "RoleBinding",
    "Node",
];

impl Place {
    /// The embedded API server.
    pub async fn embedded() -> Result<Self> {
        Self::within(Server::start(Options::default()).await?).await
    }

    /// An embedded one that runs already.
    pub async fn within(server: Server) -> Result<Self> {
        let place = Self::Embedded(server);
        place.install().await?;
        Ok(place)
    }

    /// A real one that runs already.
    pub async fn real(plane: ControlPlane) -> Result<Self> {
        let place = Self::Real(plane);
        place.install().await?;
        Ok(place)
    }

    async fn install(&self) -> Result<()> {
        let options = kubectl_kai::install::Options {
            wait: false,
            ..kubectl_kai::install::Options::without_daemons()
        };
        let installed =
            kubectl_kai::install::apply(self.admin().await?, &options, &mut |_| {}).await;
        installed.map(drop).map_err(|error| anyhow::anyhow!("failed to install: {error:?}"))
    }

    /// A client that may do everything.
    pub async fn admin(&self) -> Result<Client> {
        match self {
            Self::Embedded(server) => Ok(server.client()),
            Self::Real(plane) => plane.client().await,
        }
    }

    /// A client with the rights of one of the product's accounts.
    pub async fn account(&self, name: &str) -> Result<Client> {
        self.account_in(NAMESPACE, name).await
    }

    /// A client with the rights of an account of some namespace.
    pub async fn account_in(&self, of: &str, name: &str) -> Result<Client> {
        match self {
            Self::Embedded(server) => {
                let user = format!("system:serviceaccount:{of}:{name}");
                let own = format!("system:serviceaccounts:{of}");
                let groups = ["system:serviceaccounts", &own, "system:authenticated"];
                Ok(server.client_as(&user, &groups))
            }
            Self::Real(plane) => client(&plane.kubeconfig_of_account(of, name).await?).await,
        }
    }

    /// Removes what a scenario left, so that the next finds what [`Place::install`] made.
    pub async fn clear(&self) -> Result<()> {
        let client = self.admin().await?;
        for kind in KINDS {
            let left: Vec<DynamicObject> = object::list(&client, kind).await?;
            for object in left {
                let name = object.metadata.name.context("an object has a name")?;
                if object::is_installed(kind, &name) {
                    continue;
                }
                let of =
                    object.metadata.namespace.map_or(name.clone(), |of| format!("{of}/{name}"));
                let of = format!("{kind}/{of}");
                if object.metadata.finalizers.is_some_and(|finalizers| !finalizers.is_empty()) {
                    // Nobody here need do what a controller outside the scenario would have done.
                    object::release(&client, &of).await?;
                }
                object::delete(&client, &of).await?;
            }
        }
        for pod in object::list_in(&client, "Pod", namespace::RESERVATION).await? {
            let name = pod.metadata.name.context("an object has a name")?;
            object::delete(&client, &format!("Pod/{}/{name}", namespace::RESERVATION)).await?;
        }
        // The scenario may have changed what was installed; installing does not change it back.
        object::delete(&client, "SchedulingShard/default").await?;
        self.install().await
    }

    /// Ends it.
    pub async fn stop(self) {
        match self {
            Self::Embedded(server) => server.stop().await,
            Self::Real(plane) => drop(plane),
        }
    }
}
