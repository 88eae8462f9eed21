//! Lines on their way to where they are printed: bounded by their number and by their bytes, so that whoever writes much
//! costs whoever looks no more than that.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The bytes of a line that are read at once; a longer one comes in pieces.
pub(crate) const PIECE_BYTES_MAX: u64 = 256 << 10;
/// The bytes that wait to be printed; when nobody prints, nobody reads on.
const BYTES_MAX: u32 = 16 << 20;

/// A line, and its room among those that wait.
type Held<T> = (T, OwnedSemaphorePermit);

/// Sends lines.
#[derive(Debug)]
pub(crate) struct Sender<T> {
    lines: mpsc::Sender<Held<T>>,
    room: Arc<Semaphore>,
}

/// Receives lines.
#[derive(Debug)]
pub(crate) struct Receiver<T>(mpsc::Receiver<Held<T>>);

/// Makes a way for so many lines at once.
pub(crate) fn channel<T>(lines: usize) -> (Sender<T>, Receiver<T>) {
    let (send, receive) = mpsc::channel(lines);
    let room = Arc::new(Semaphore::new(usize::try_from(BYTES_MAX).unwrap_or(usize::MAX)));
    (Sender { lines: send, room }, Receiver(receive))
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { lines: self.lines.clone(), room: Arc::clone(&self.room) }
    }
}

impl<T> Sender<T> {
    /// Sends a line of so many bytes once there is room for it; tells whether somebody takes it.
    pub(crate) async fn send(&self, line: T, bytes: usize) -> bool {
        let bytes = u32::try_from(bytes).unwrap_or(BYTES_MAX).min(BYTES_MAX);
        let Ok(held) = Arc::clone(&self.room).acquire_many_owned(bytes).await else { return false };
        self.lines.send((line, held)).await.is_ok()
    }
}

impl<T> Receiver<T> {
    /// Waits for the next line; none where all who could send one are gone.
    pub(crate) async fn recv(&mut self) -> Option<T> {
        self.0.recv().await.map(|(line, _)| line)
    }

    /// The next line, if it is there.
    pub(crate) fn try_recv(&mut self) -> Option<T> {
        self.0.try_recv().ok().map(|(line, _)| line)
    }
}

/// Takes the beginning of a character from the end of a piece: the rest of it comes with the next.
pub(crate) fn take_part_of_char(piece: &mut Vec<u8>) -> Vec<u8> {
    /// The most bytes of a character that is not whole.
    const PART_BYTES_MAX: usize = 3;
    let from = piece.len().saturating_sub(PART_BYTES_MAX);
    // The first byte of a character says how many it has.
    let wanted = |first: u8| match first {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    };
    let begun = (from..piece.len()).rev().find(|at| piece[*at] & 0xC0 != 0x80);
    match begun {
        Some(at) if at + wanted(piece[at]) > piece.len() => piece.split_off(at),
        Some(_) | None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_character_is_not_cut() {
        for (piece, part) in [
            ("ab".as_bytes(), 0),
            ("aé".as_bytes(), 0),
            (&"aé".as_bytes()[..2], 1),
            ("模".as_bytes(), 0),
            (&"a模".as_bytes()[..3], 2),
            (&"a😀".as_bytes()[..4], 3),
            ("a😀".as_bytes(), 0),
            (b"a\x80\x80\x80\x80", 0),
            (b"", 0),
        ] {
            let mut left = piece.to_vec();
            let taken = take_part_of_char(&mut left);
            assert_eq!(taken.len(), part, "{piece:?}");
            assert_eq!([left, taken].concat(), piece);
        }
    }

    #[tokio::test]
    async fn bytes_that_wait_are_bounded() {
        let (send, mut receive) = channel(1024);
        let half = usize::try_from(BYTES_MAX / 2).expect("it is small");
        assert!(send.send('a', half).await && send.send('b', half).await);
        let third = tokio::time::timeout(Duration::from_millis(50), send.send('c', half));
        assert!(third.await.is_err(), "there is no room");
        assert_eq!(receive.recv().await, Some('a'));
        assert!(send.send('c', half).await);
        // What has no room by itself takes all of it.
        assert_eq!([receive.try_recv(), receive.try_recv()], [Some('b'), Some('c')]);
        assert!(send.send('d', usize::MAX).await);
        assert_eq!(receive.try_recv(), Some('d'));
        drop(receive);
        assert!(!send.send('e', 1).await);
    }
}
