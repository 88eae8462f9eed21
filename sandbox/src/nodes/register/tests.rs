//! Simulations that meet on one cluster.

use kube::api::ObjectMeta;

use super::super::group::{expand, parse};
use super::super::{Nodes, Options, Running};
use super::*;
use crate::server::{self, Server};

async fn start(client: &Client, nodes: &str) -> Result<Running, NodesError> {
    let specs = expand(&parse(nodes).expect("a legal group"), 2);
    Nodes::new(Options { specs, ..Options::default() }).start(client.clone()).await
}

async fn names(client: &Client) -> Vec<String> {
    let nodes: Api<Node> = Api::all(client.clone());
    let list = nodes.list(&ListParams::default()).await.expect("the server answers");
    list.items.iter().map(ResourceExt::name_any).collect()
}

#[tokio::test]
async fn a_simulation_touches_its_own_nodes_only() {
    let server = Server::start(server::Options::default()).await.expect("it starts");
    let client = server.client();
    let first = start(&client, "2xH100:8").await.expect("the cluster is empty");

    let refused = start(&client, "1xcpu:4,3xH100:8").await.expect_err("the first one runs them");
    assert!(matches!(&refused, NodesError::Held { name, .. } if name == "node-1"), "{refused}");
    assert_eq!(names(&client).await, ["node-1", "node-2"], "a refusal leaves nothing");

    first.leave().await;
    let second = start(&client, "3xH100:8").await.expect("nobody runs them");
    let nodes: Api<Node> = Api::all(client.clone());
    let other = Patch::Merge(json!({"metadata": {"annotations": {object::SIMULATION: "another"}}}));
    nodes.patch("node-2", &PatchParams::default(), &other).await.expect("it is there");
    second.remove().await;
    assert_eq!(names(&client).await, ["node-2"], "what another one runs stays");
    server.stop().await;
}

#[tokio::test]
async fn a_real_node_is_refused_before_any_is_made() {
    let server = Server::start(server::Options::default()).await.expect("it starts");
    let client = server.client();
    let nodes: Api<Node> = Api::all(client.clone());
    let metadata = ObjectMeta { name: Some("node-2".to_owned()), ..ObjectMeta::default() };
    let real = Node { metadata, ..Node::default() };
    nodes.create(&PostParams::default(), &real).await.expect("a legal node");
    let refused = start(&client, "2xH100:8").await.expect_err("one is real");
    assert!(matches!(&refused, NodesError::Taken { name } if name == "node-2"), "{refused}");
    assert_eq!(names(&client).await, ["node-2"]);
    server.stop().await;
}
