//! The kubeconfig that points at this server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A kubeconfig with one cluster, one user and one context, all named `kai-sandbox`.
pub(super) fn text(url: &str, authority_pem: &str, token: &str, namespace: &str) -> String {
    let authority = STANDARD.encode(authority_pem);
    format!(
        "apiVersion: v1
kind: Config
current-context: kai-sandbox
clusters:
- name: kai-sandbox
  cluster:
    server: {url}
    certificate-authority-data: {authority}
users:
- name: kai-sandbox
  user:
    token: {token}
contexts:
- name: kai-sandbox
  context:
    cluster: kai-sandbox
    user: kai-sandbox
    namespace: {namespace}
"
    )
}
