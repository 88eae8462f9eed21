//! The agreement on a protocol, from the headers of a request. Pure.

use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, UPGRADE,
};
use http::{HeaderMap, Response, StatusCode};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// The header by which SPDY clients offer what they speak inside.
const STREAM_PROTOCOL: &str = "x-stream-protocol-version";
/// The name that kubectl gives to SPDY inside of a websocket.
const TUNNEL: &str = "SPDY/3.1+portforward.k8s.io";

/// Ways in which the streams of a client travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Numbered channels in binary messages.
    Websocket,
    /// SPDY inside the binary messages of a websocket.
    SpdyInWebsocket,
    Spdy,
}

/// The reason why a request gets no streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unaccepted {
    /// It asks for no upgrade of its connection.
    #[error("Upgrade request required")]
    Upgrade,
    /// It comes without a connection of its own, as calls within this process do.
    #[error("unable to upgrade: the request came over no connection of its own")]
    Connection,
    /// It offers no protocol that is spoken here.
    #[error(
        "unable to negotiate: v4.channel.k8s.io and v5.channel.k8s.io over a websocket or SPDY/3.1 are spoken here"
    )]
    Protocol,
}

/// Chooses the protocol, and gives the answer that agrees to it.
pub(super) fn handshake(
    headers: &HeaderMap,
    forwards: bool,
) -> Result<(Protocol, http::response::Builder), Unaccepted> {
    let upgrade = words(headers, UPGRADE.as_str());
    let is = |name: &str| upgrade.iter().any(|word| word.eq_ignore_ascii_case(name));
    let answer = Response::builder().status(StatusCode::SWITCHING_PROTOCOLS);
    let answer = answer.header(CONNECTION, "Upgrade");
    if is("websocket") {
        let key = headers.get(SEC_WEBSOCKET_KEY).ok_or(Unaccepted::Upgrade)?;
        let offered = words(headers, SEC_WEBSOCKET_PROTOCOL.as_str());
        let table: &[(&str, Protocol)] = if forwards {
            &[(TUNNEL, Protocol::SpdyInWebsocket), ("v4.channel.k8s.io", Protocol::Websocket)]
        } else {
            &[
                ("v5.channel.k8s.io", Protocol::Websocket),
                ("v4.channel.k8s.io", Protocol::Websocket),
            ]
        };
        let (name, protocol) = chosen(table, &offered)?;
        let answer = answer
            .header(UPGRADE, "websocket")
            .header(SEC_WEBSOCKET_ACCEPT, derive_accept_key(key.as_bytes()))
            .header(SEC_WEBSOCKET_PROTOCOL, name);
        return Ok((protocol, answer));
    }
    if is("SPDY/3.1") {
        let offered = words(headers, STREAM_PROTOCOL);
        let table: &[(&str, Protocol)] = if forwards {
            &[("portforward.k8s.io", Protocol::Spdy)]
        } else {
            &[("v5.channel.k8s.io", Protocol::Spdy), ("v4.channel.k8s.io", Protocol::Spdy)]
        };
        let (name, protocol) = chosen(table, &offered)?;
        return Ok((protocol, answer.header(UPGRADE, "SPDY/3.1").header(STREAM_PROTOCOL, name)));
    }
    Err(Unaccepted::Upgrade)
}

/// The first of ours that is offered.
fn chosen(
    table: &[(&'static str, Protocol)],
    offered: &[&str],
) -> Result<(&'static str, Protocol), Unaccepted> {
    let ours = table.iter().find(|(name, _)| offered.contains(name));
    ours.copied().ok_or(Unaccepted::Protocol)
}

/// The words of a header that may come several times, each with several words.
fn words<'h>(headers: &'h HeaderMap, name: &str) -> Vec<&'h str> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        headers: &[(&'static str, &str)],
        forwards: bool,
        expect: Result<Protocol, Unaccepted>,
    ) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header of the test"));
        }
        let protocol = handshake(&map, forwards).map(|(protocol, _)| protocol);
        assert_eq!(protocol, expect, "{headers:?}");
    }

    #[test]
    fn the_best_protocol_that_both_sides_speak() {
        let websocket = |protocols| {
            [
                ("upgrade", "websocket"),
                ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
                ("sec-websocket-protocol", protocols),
            ]
        };
        let both = "v5.channel.k8s.io, v4.channel.k8s.io";
        check(&websocket(both), false, Ok(Protocol::Websocket));
        check(&websocket(both), true, Ok(Protocol::Websocket));
        check(&websocket("v4.channel.k8s.io"), false, Ok(Protocol::Websocket));
        check(&websocket(TUNNEL), true, Ok(Protocol::SpdyInWebsocket));
        check(&websocket("base64.channel.k8s.io"), false, Err(Unaccepted::Protocol));
        let spdy = [("upgrade", "SPDY/3.1"), (STREAM_PROTOCOL, "v4.channel.k8s.io")];
        check(&spdy, false, Ok(Protocol::Spdy));
        check(&spdy, true, Err(Unaccepted::Protocol));
        check(&[], false, Err(Unaccepted::Upgrade));
        check(&[("upgrade", "h2c")], false, Err(Unaccepted::Upgrade));
    }
}
