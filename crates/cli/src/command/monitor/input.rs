//! Where events come from: standard input or a file that grows, read by a thread of its own, or [sockets].
//!
//! Invariant: whole lines are handed on, in the order of their writer, and what is left of a line when a writer ends is handed on as such. The channel is
//! bounded: when the checker is behind, reading stops, pipes fill, and writers wait. Nothing is dropped.
//!
//! [sockets]: super::sockets

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use selvedge_history::format::LINE_MAX;

use super::sockets::Sockets;

/// How much is read at a time.
const CHUNK: usize = 1 << 16;

/// How often a file is looked at that has not grown.
const POLL: Duration = Duration::from_millis(20);

/// How many pieces of input may wait for the checker.
const CHANNEL: usize = 16;

/// What a reader says.
pub enum Message {
    /// A writer has come.
    Opened(u64),
    /// Whole lines.
    Lines(u64, Vec<u8>),
    /// The beginning of a line whose rest will not come.
    Cut(u64, Vec<u8>),
    /// A line that is longer than any event; it was left out.
    TooLong(u64),
    /// A file was replaced by a shorter one, which is read from its beginning.
    Replaced,
    /// The writer cannot be read any more.
    Broken(u64, io::Error),
    /// The writer is gone.
    Closed(u64),
    /// Whether writers wait that cannot be taken, and why.
    Waiting(Option<io::Error>),
    /// A writer came that can never be read, and why.
    Unread(io::Error),
}

/// Where to listen.
#[derive(Clone, Debug)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A port of this machine.
    Tcp(String),
}

impl Address {
    /// `unix:PATH` or `tcp:HOST:PORT`.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Address::Unix(path.into())),
            Some(("tcp", address)) if address.contains(':') => Ok(Address::Tcp(address.to_owned())),
            _ => Err("expected unix:PATH or tcp:127.0.0.1:PORT".to_owned()),
        }
    }
}

/// What was read of one writer and is not yet a whole line.
#[derive(Debug)]
pub struct Lines {
    writer: u64,
    buffer: Vec<u8>,
    skipping: bool,
}

impl Lines {
    pub fn new(writer: u64) -> Self {
        Lines { writer, buffer: Vec::new(), skipping: false }
    }

    /// Reads once; how much that was, and what came with it.
    pub fn read(&mut self, from: &mut impl Read) -> io::Result<(usize, Option<Message>)> {
        let begin = self.buffer.len();
        self.buffer.resize(begin + CHUNK, 0);
        let read = from.read(&mut self.buffer[begin..]);
        let length = *read.as_ref().unwrap_or(&0);
        self.buffer.truncate(begin + length);
        if self.buffer.is_empty() {
            // Many writers that are silent need no memory.
            self.buffer = Vec::new();
        }
        read?;
        let Some(last) = memchr::memrchr(b'\n', &self.buffer[begin..]) else {
            let is_too_long = self.buffer.len() > LINE_MAX;
            if is_too_long {
                self.buffer.clear();
            }
            let is_new = is_too_long && !self.skipping;
            self.skipping |= is_too_long;
            return Ok((length, is_new.then_some(Message::TooLong(self.writer))));
        };
        let rest = self.buffer.split_off(begin + last + 1);
        let mut lines = std::mem::replace(&mut self.buffer, rest);
        if std::mem::take(&mut self.skipping) {
            // The end of the line that was left out.
            let end = memchr::memchr(b'\n', &lines).map_or(lines.len(), |end| end + 1);
            lines.drain(..end);
        }
        Ok((length, Some(Message::Lines(self.writer, lines))))
    }

    /// What is left when nothing more will come.
    pub fn cut(&mut self) -> Option<Message> {
        // The rest of a line that was left out is no line.
        let is_cut = !self.buffer.is_empty() && !std::mem::take(&mut self.skipping);
        let cut = std::mem::take(&mut self.buffer);
        is_cut.then_some(Message::Cut(self.writer, cut))
    }
}

/// How far the thread has read that reads a file.
#[derive(Debug, Default)]
struct Reached(AtomicU8);

impl Reached {
    const MORE: u8 = 0;
    const END: u8 = 1;
    const HALF_A_LINE: u8 = 2;

    fn set(&self, reached: u8) {
        self.0.store(reached, Ordering::SeqCst);
    }
}

/// Where events come from.
pub enum Source {
    /// One writer, which a thread reads.
    One(Receiver<Message>, Arc<Reader>),
    /// Any number of writers.
    Many(Box<Sockets>),
}

/// The thread that reads the one writer.
#[derive(Debug, Default)]
pub struct Reader {
    reached: Reached,
}

/// What came in one round.
#[derive(Default)]
pub struct Round {
    pub messages: Vec<Message>,
    /// Nothing more will come.
    pub is_over: bool,
}

impl Source {
    /// What comes next, if something does in time.
    pub fn round(&mut self, wait: Duration) -> Round {
        match self {
            Source::Many(sockets) => Round { messages: sockets.round(wait), is_over: false },
            Source::One(receiver, _) => match receiver.recv_timeout(wait) {
                Ok(message) => Round { messages: vec![message], is_over: false },
                Err(RecvTimeoutError::Timeout) => Round::default(),
                Err(RecvTimeoutError::Disconnected) => Round { messages: Vec::new(), is_over: true },
            },
        }
    }

    /// Somebody said stop: what has arrived by now, and what is not known of the rest.
    pub fn last(&mut self) -> (Round, Option<Rest>) {
        match self {
            Source::Many(sockets) => {
                let messages = sockets.last();
                let rest = sockets.rest();
                (Round { messages, is_over: false }, rest)
            }
            Source::One(receiver, reader) => {
                let reached = reader.reached.0.load(Ordering::SeqCst);
                let messages: Vec<Message> = receiver.try_iter().collect();
                let is_over = matches!(receiver.try_recv(), Err(mpsc::TryRecvError::Disconnected));
                let rest = match reached {
                    _ if is_over => None,
                    Reached::END => None,
                    Reached::HALF_A_LINE => Some(Rest::HalfALine),
                    _ => Some(Rest::Input),
                };
                (Round { messages, is_over }, rest)
            }
        }
    }
}

/// What was there when somebody said stop, and was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// More of the one writer.
    Input,
    /// The beginning of a line.
    HalfALine,
    /// So many writers that were never read.
    Writers(u64),
}

/// Reads from one writer until it ends.
fn pump(mut from: impl Read, to: &SyncSender<Message>, reader: &Reader, mut at_end: impl FnMut(&mut bool) -> bool) {
    let mut lines = Lines::new(0);
    loop {
        let message = match lines.read(&mut from) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let _ = to.send(Message::Broken(0, error));
                return;
            }
            Ok((0, _)) => {
                let mut replaced = false;
                let is_whole = lines.buffer.is_empty() && !lines.skipping;
                reader.reached.set(if is_whole { Reached::END } else { Reached::HALF_A_LINE });
                if !at_end(&mut replaced) {
                    break;
                }
                if replaced {
                    reader.reached.set(Reached::MORE);
                    let _ = lines.cut().map(|cut| to.send(cut));
                    let _ = to.send(Message::Replaced);
                }
                continue;
            }
            Ok((_, message)) => message,
        };
        reader.reached.set(Reached::MORE);
        if message.is_some_and(|message| to.send(message).is_err()) {
            return;
        }
    }
    let _ = lines.cut().map(|cut| to.send(cut));
    let _ = to.send(Message::Closed(0));
}

/// The thread cannot be started: nothing would be read.
fn spawn(read: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name("reader".to_owned()).spawn(read).map(|_| ())
}

/// Reads standard input.
pub fn stdin() -> io::Result<Source> {
    let (to, from) = mpsc::sync_channel(CHANNEL);
    let reader = Arc::new(Reader::default());
    let reading = Arc::clone(&reader);
    let _ = to.send(Message::Opened(0));
    spawn(move || pump(io::stdin(), &to, &reading, |_| false))?;
    Ok(Source::One(from, reader))
}

/// Reads a file, and goes on as it grows if it is to be followed.
pub fn file(path: &Path, follow: bool) -> io::Result<Source> {
    let opened = File::open(path)?;
    if opened.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let path = path.to_owned();
    let (to, from) = mpsc::sync_channel(CHANNEL);
    let reader = Arc::new(Reader::default());
    let reading = Arc::clone(&reader);
    let _ = to.send(Message::Opened(0));
    spawn(move || {
        let file = Arc::new(std::sync::Mutex::new(Followed { file: opened, at: 0 }));
        let again = Arc::clone(&file);
        let at_end = move |replaced: &mut bool| {
            if follow {
                *replaced = again.lock().is_ok_and(|mut followed| followed.reopen(&path));
                std::thread::sleep(POLL);
            }
            follow
        };
        pump(Handle(file), &to, &reading, at_end);
    })?;
    Ok(Source::One(from, reader))
}

struct Followed {
    file: File,
    at: u64,
}

impl Followed {
    /// Whether the file is another one now, or shorter; then it is read from its beginning.
    fn reopen(&mut self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let Ok(now) = path.metadata() else { return false };
        let same = self.file.metadata().is_ok_and(|old| (old.dev(), old.ino()) == (now.dev(), now.ino()));
        if same && now.len() >= self.at {
            return false;
        }
        let Ok(file) = File::open(path) else { return false };
        *self = Followed { file, at: 0 };
        true
    }
}

struct Handle(Arc<std::sync::Mutex<Followed>>);

impl Read for Handle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut followed = self.0.lock().map_err(|_| io::Error::other("a reader panicked"))?;
        let length = followed.file.read(buffer)?;
        followed.at += length as u64;
        Ok(length)
    }
}
