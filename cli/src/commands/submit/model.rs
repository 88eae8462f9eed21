//! Models of GPUs: from what a user calls one, `H100`, to the products that nodes are labelled with.

use std::collections::BTreeMap;

use serde_json::Value;

use super::args::DryRun;
use super::request::Request;
use crate::cluster::json::text;
use crate::cluster::queue::count;
use crate::cluster::{Call, Resource, Select, names};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Finds the products that are the model of the request.
///
/// # Errors
/// No node has such a GPU, or the nodes cannot be read.
pub(crate) async fn resolve(
    request: &mut Request,
    dry_run: DryRun,
    context: &mut Context,
) -> Result<(), Error> {
    let Some(model) = request.gpu_model.clone() else { return Ok(()) };
    if dry_run == DryRun::Client {
        let what = format!(
            "--dry-run=client asks no cluster, and only its nodes tell which products are {model}"
        );
        return Err(Problem::new(number::GPU, Exit::Usage, what)
            .fix("--dry-run=server, or leave the model out")
            .into());
    }
    let cluster = context.cluster().await?;
    let resource = Resource::new("v1", "Node", "nodes").cluster_wide();
    let call = Call::new("list", &resource);
    let select = Select { labels: names::GPU_PRODUCT, fields: "" };
    let nodes = cluster.list(&call, &select).await;
    let nodes = nodes.map_err(|failure| cluster.explain(&call, &failure))?.unwrap_or_default();
    let there = products(&nodes);
    request.gpu_products =
        there.keys().filter(|product| is_model(product, &model)).cloned().collect();
    if request.gpu_products.is_empty() {
        return Err(unknown(&model, &there).into());
    }
    Ok(())
}

/// Products and how many devices nodes have of them.
fn products(nodes: &[Value]) -> BTreeMap<String, u64> {
    let mut products: BTreeMap<String, u64> = BTreeMap::new();
    for node in nodes {
        let product = text(&node["metadata"]["labels"][names::GPU_PRODUCT]).to_owned();
        let devices = text(&node["status"]["allocatable"][names::GPU]).parse().unwrap_or(0);
        *products.entry(product).or_default() += devices;
    }
    products
}

/// Tells whether the words of `model` stand side by side in `product`: `H100` and `h100-80gb` do in `NVIDIA-H100-80GB-HBM3`.
fn is_model(product: &str, model: &str) -> bool {
    let words = |text: &str| {
        text.split(['-', '_', ' ']).map(str::to_ascii_lowercase).collect::<Vec<String>>()
    };
    let (product, model) = (words(product), words(model));
    product.windows(model.len()).any(|part| *part == *model)
}

fn unknown(model: &str, there: &BTreeMap<String, u64>) -> Problem {
    let problem =
        Problem::new(number::GPU, Exit::NotFound, format!("no node has a GPU of model {model}"));
    if there.is_empty() {
        return problem
            .line(format!("no node carries the label {}", names::GPU_PRODUCT))
            .fix("leave the model out, or (admin) let the GPU operator label the nodes");
    }
    let list: Vec<String> = there
        .iter()
        .map(|(product, n)| format!("{} ({})", clean(product), count(n, "GPU")))
        .collect();
    problem.line(format!("there is: {}", list.join(", "))).fix("name one of them, or a part of it")
}

#[cfg(test)]
mod tests {
    use super::is_model;

    #[test]
    fn a_model_is_whole_words_of_a_product() {
        for (product, model, expect) in [
            ("NVIDIA-H100-80GB-HBM3", "H100", true),
            ("NVIDIA-H100-80GB-HBM3", "h100-80gb", true),
            ("NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-80GB-HBM3", true),
            ("NVIDIA-H100-80GB-HBM3", "H10", false),
            ("NVIDIA-H100-80GB-HBM3", "H100-HBM3", false),
            ("NVIDIA-L40S", "L40", false),
            ("Tesla-T4", "t4", true),
        ] {
            assert_eq!(is_model(product, model), expect, "{model} in {product}");
        }
    }
}
