//! Checks that no more is kept of what is looked at again than there is.

use super::*;

#[test]
fn a_device_of_an_unknown_node_is_looked_at_again_once_however_often_its_pods_change() {
    let mut names = Names::new();
    let device = names.devices.intern("g");
    let node = names.nodes.intern("n1");
    let pod = names.pods.intern("a");
    let mut sharing = Sharing::default();
    for now in 0..1_000 {
        let standing = Standing::OnNode(node);
        sharing.told(Told::Sharer { pod, devices: vec![device], standing });
        sharing.settle(now, &names);
    }
    assert_eq!(1, sharing.later.len(), "one look of one device");
    assert_eq!(Some(STRANGE_MS), sharing.wake(), "as was asked first");
}
