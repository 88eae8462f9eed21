//! The output of a container's own process as it comes. What is typed goes nowhere, unless the process is a shell:
//! there is none to read it.

use super::session::{Session, Stopped};
use super::{LOOK, Running};
use crate::log::{Part, Reader};
use crate::nodes::logs::Logs;
use crate::streams::{Link, Streams};

/// Shows what the container prints from now on, until it ends or the client goes.
pub(super) async fn attach(link: Link, streams: Streams, logs: Logs, running: Running) {
    let Some(mut session) = Session::begin(link, streams).await else { return };
    let place = &running.place;
    let read = || logs.read(&place.namespace, &place.pod, &place.container, false);
    let mut reader = Reader::new(Part { tail_lines: Some(0), ..Part::default() });
    while let Ok(now) = read() {
        if session.print("stdout", &reader.read(&now)).await.is_err() {
            return;
        }
        if reader.is_over() {
            break;
        }
        match session.sleep(LOOK).await {
            Ok(()) => {}
            // It ends the attached process of a real container too, which a simulated one does not notice.
            Err(Stopped::Interrupted) => break,
            Err(Stopped::Gone) => return,
        }
    }
    session.end(0).await;
}
