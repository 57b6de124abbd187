//! What lies in a pipe or on its way between two sockets, and how much more fits, as Linux has it.
//!
//! Invariant: every byte belongs to one part (a page of a pipe, a message of a socket) and to one segment (what one write put there), in the same order.

use std::collections::VecDeque;

/// A pipe consists of pages. A write of no more than one is not taken apart.
pub const PAGE: usize = 4096;
/// What the levels of something that has been closed or shut down are: enough for everybody, who then finds that out.
pub const GONE: u64 = 1 << 40;
/// What a socket needs for a message beside what is in it.
const MESSAGE: usize = 768;
/// A stream is taken apart into such messages.
const CHUNK: usize = 32 << 10;

/// How bytes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A pipe of so many pages.
    Pages(usize),
    /// A stream between sockets, which may hold so many bytes.
    Stream(usize),
    /// The same for messages; whether a reader is told that the other end was closed.
    Messages(usize, bool),
}

/// A page or a message.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// How many bytes have not been read.
    length: usize,
    /// How many there were.
    filled: usize,
}

/// What one write put there.
#[derive(Clone, Debug)]
struct Segment {
    left: usize,
    number: u64,
}

/// Bytes on their way.
#[derive(Clone, Debug)]
pub struct Queue {
    /// How they are kept.
    pub shape: Shape,
    bytes: VecDeque<u8>,
    parts: VecDeque<Part>,
    segments: VecDeque<Segment>,
    /// How many descriptions are there to read from it, and to write to it.
    pub ends: [u32; 2],
    /// Whether the other socket was closed with something unread in it, which nobody has been told.
    pub reset: bool,
}

impl PartialEq for Queue {
    /// Which writes put the bytes there matters to nobody who only looks at them.
    fn eq(&self, other: &Self) -> bool {
        let of = |queue: &Queue| (queue.shape, queue.ends, queue.reset);
        of(self) == of(other) && self.bytes == other.bytes && self.parts == other.parts
    }
}

impl Eq for Queue {}

/// What was read.
#[derive(Default)]
pub struct Taken {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The numbers of the writes that put them there, and whether nothing is left of what each put there.
    pub writes: Vec<(u64, bool)>,
    /// How long the message was, where it is one.
    pub length: usize,
    /// Whether it is one.
    pub of_message: bool,
}

impl Queue {
    /// Nothing, with an end to read from and one to write to.
    pub fn new(shape: Shape) -> Self {
        let (bytes, parts, segments) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Queue { shape, bytes, parts, segments, ends: [1, 1], reset: false }
    }

    /// Whether messages keep their bounds.
    pub fn has_messages(&self) -> bool {
        matches!(self.shape, Shape::Messages(..))
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// How many bytes a read would find at most.
    pub fn waiting(&self) -> usize {
        match (self.has_messages(), self.parts.front()) {
            (true, Some(first)) => first.length,
            _ => self.bytes.len(),
        }
    }

    /// Whether nobody will write to it.
    pub fn has_ended(&self) -> bool {
        self.ends[1] == 0
    }

    /// Whether nobody will read from it.
    pub fn is_broken(&self) -> bool {
        self.ends[0] == 0
    }

    /// How much there is to be read.
    pub fn level(&self) -> u64 {
        match self.has_ended() || self.reset {
            true => GONE,
            false if self.has_messages() => self.parts.len() as u64,
            false => self.bytes.len() as u64,
        }
    }

    fn used(&self) -> usize {
        self.parts.iter().map(|part| part.filled + MESSAGE).sum()
    }

    /// How much room there is: of a pipe no more than a page counts.
    pub fn room(&self) -> u64 {
        match self.shape {
            _ if self.is_broken() => GONE,
            Shape::Pages(pages) if self.parts.len() < pages => PAGE as u64,
            Shape::Pages(_) => self.parts.back().map_or(0, |part| PAGE - part.filled) as u64,
            Shape::Stream(most) | Shape::Messages(most, _) => most.saturating_sub(self.used()) as u64,
        }
    }

    /// How much room a write of so many bytes needs in order to begin; `None` where it never fits.
    pub fn needs(&self, count: usize, goes_on: bool) -> Option<u64> {
        match self.shape {
            Shape::Pages(_) if goes_on || count.is_multiple_of(PAGE) => Some(PAGE as u64),
            Shape::Pages(_) => Some((count % PAGE) as u64),
            Shape::Messages(most, _) if count + 32 > most => None,
            Shape::Stream(_) | Shape::Messages(..) => Some(1),
        }
    }

    /// How much room has to be there for `poll` to say so.
    pub fn writable_from(&self) -> u64 {
        match self.shape {
            Shape::Pages(_) => PAGE as u64,
            Shape::Stream(most) | Shape::Messages(most, _) => (most - most / 4) as u64,
        }
    }

    /// Whether there is so much.
    pub fn is_writable(&self) -> bool {
        match self.shape {
            Shape::Pages(pages) => self.parts.len() < pages,
            Shape::Stream(_) | Shape::Messages(..) => self.room() >= self.writable_from(),
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        self.parts.push_back(Part { length: bytes.len(), filled: bytes.len() });
    }

    /// Puts there what fits, of a write with that number that may have begun before; how many bytes.
    pub fn put(&mut self, bytes: &[u8], number: u64, goes_on: bool) -> usize {
        let mut put = 0;
        match self.shape {
            Shape::Pages(pages) => {
                let first = if goes_on { 0 } else { bytes.len() % PAGE };
                if first > 0
                    && let Some(last) = self.parts.back_mut()
                    && last.filled + first <= PAGE
                {
                    last.filled += first;
                    last.length += first;
                    self.bytes.extend(&bytes[..first]);
                    put = first;
                }
                while put < bytes.len() && self.parts.len() < pages {
                    let end = (put + PAGE).min(bytes.len());
                    self.add(&bytes[put..end]);
                    put = end;
                }
            }
            Shape::Stream(most) => {
                while put < bytes.len() && self.used() < most {
                    let end = (put + CHUNK).min(bytes.len());
                    self.add(&bytes[put..end]);
                    put = end;
                }
            }
            Shape::Messages(..) => {
                self.add(bytes);
                put = bytes.len();
            }
        }
        // A message without bytes was sent, too.
        if put > 0 || self.has_messages() {
            self.segments.push_back(Segment { left: put, number });
        }
        put
    }

    /// The writes that what comes first was put there by, up to so many bytes.
    pub fn writes(&self, count: usize) -> Vec<(u64, bool)> {
        let mut rest = count;
        let mut writes = Vec::new();
        for segment in &self.segments {
            let used = segment.left.min(rest);
            writes.push((segment.number, used == segment.left));
            rest -= used;
            if rest == 0 {
                break;
            }
        }
        writes
    }

    /// Takes so many bytes at most, or one message; or only looks at them.
    pub fn take(&mut self, most: usize, keep: bool) -> Taken {
        let length = self.waiting();
        let count = most.min(length);
        // What is left of a message is lost.
        let gone = if self.has_messages() { length } else { count };
        let bytes: Vec<u8> = self.bytes.iter().take(count).copied().collect();
        let writes = self.writes(gone);
        if !keep {
            self.bytes.drain(..gone);
            if self.has_messages() {
                self.parts.pop_front();
                self.segments.pop_front();
            } else {
                self.drop_parts(gone);
                self.drop_segments(gone);
            }
        }
        Taken { bytes, writes, length, of_message: self.has_messages() }
    }

    fn drop_parts(&mut self, mut count: usize) {
        while count > 0
            && let Some(first) = self.parts.front_mut()
        {
            let used = first.length.min(count);
            first.length -= used;
            count -= used;
            if first.length == 0 {
                self.parts.pop_front();
            }
        }
    }

    fn drop_segments(&mut self, mut count: usize) {
        while count > 0
            && let Some(first) = self.segments.front_mut()
        {
            let used = first.left.min(count);
            first.left -= used;
            count -= used;
            if first.left == 0 {
                self.segments.pop_front();
            }
        }
    }

    /// How many parts are full or begun.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_holds_as_many_bytes_as_small_writes_bring() {
        let mut pipe = Queue::new(Shape::Pages(2));
        for byte in 0..2 * PAGE {
            assert_eq!(pipe.put(&[byte as u8], 1, false), 1, "{byte}");
        }
        assert_eq!((pipe.room(), pipe.put(&[0], 1, false)), (0, 0));
    }

    #[test]
    fn a_write_of_a_page_at_most_is_not_taken_apart() {
        let mut pipe = Queue::new(Shape::Pages(2));
        assert_eq!(pipe.put(&[1; 3000], 1, false), 3000);
        assert_eq!(pipe.put(&[2; 3000], 2, false), 3000);
        // There is room for a thousand bytes, but not for three.
        assert_eq!((pipe.room(), pipe.needs(3000, false)), (1096, Some(3000)));
        assert_eq!(pipe.put(&[3; 3000], 3, false), 0);
        assert_eq!(pipe.put(&[3; 1000], 3, false), 1000);
        // What was read of a page makes no room in it.
        assert_eq!(pipe.take(2999, false).bytes.len(), 2999);
        assert_eq!(pipe.put(&[4; 200], 4, false), 0);
        assert_eq!(pipe.take(1, false).writes, [(1, true)]);
        assert_eq!(pipe.put(&[4; 200], 4, false), 200);
    }

    #[test]
    fn what_is_read_tells_who_wrote_it() {
        let mut pipe = Queue::new(Shape::Pages(2));
        pipe.put(b"ab", 1, false);
        pipe.put(b"cd", 2, false);
        let taken = pipe.take(3, false);
        assert_eq!((&taken.bytes[..], &taken.writes[..]), (&b"abc"[..], &[(1, true), (2, false)][..]));
        assert_eq!(pipe.take(9, false).writes, [(2, true)]);
    }

    #[test]
    fn messages_keep_their_bounds_and_lose_what_is_not_read() {
        let mut queue = Queue::new(Shape::Messages(10_000, true));
        queue.put(b"abc", 1, false);
        queue.put(b"", 2, false);
        queue.put(b"de", 3, false);
        assert_eq!((queue.level(), queue.take(2, false).bytes), (3, b"ab".to_vec()));
        assert_eq!(queue.take(2, false).bytes, b"");
        assert_eq!((queue.take(2, false).bytes, queue.is_empty()), (b"de".to_vec(), true));
        assert_eq!(queue.needs(10_000, false), None);
    }
}
