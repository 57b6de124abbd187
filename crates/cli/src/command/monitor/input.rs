//! Where events come from: standard input, a file that grows, or a socket, each read by a thread of its own.
//!
//! Invariant: whole lines are handed on, in the order of their writer, and what is left of a line when a writer ends is handed on as such. The channel is
//! bounded: when the checker is behind, reading stops, pipes fill, and writers wait. Nothing is dropped.

use std::fs::File;
use std::io::{self, Read};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use selvedge_history::format::LINE_MAX;

/// How much is read at a time.
const CHUNK: usize = 1 << 18;

/// How often a file is looked at that has not grown.
const POLL: Duration = Duration::from_millis(20);

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
    /// The writer is gone.
    Closed(u64),
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

/// Reads from one writer until it ends.
fn pump(mut from: impl Read, writer: u64, to: &SyncSender<Message>, mut at_end: impl FnMut(&mut bool) -> bool) {
    let mut buffer: Vec<u8> = Vec::new();
    let mut skipping = false;
    loop {
        let begin = buffer.len();
        buffer.resize(begin + CHUNK, 0);
        let length = match from.read(&mut buffer[begin..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(_) => {
                buffer.truncate(begin);
                break;
            }
            Ok(0) => {
                buffer.truncate(begin);
                let mut replaced = false;
                if !at_end(&mut replaced) {
                    break;
                }
                if replaced {
                    let cut = std::mem::take(&mut buffer);
                    let _ = to.send(Message::Cut(writer, cut));
                    let _ = to.send(Message::Replaced);
                }
                continue;
            }
            Ok(length) => length,
        };
        buffer.truncate(begin + length);
        let Some(last) = memchr::memrchr(b'\n', &buffer[begin..]) else {
            if buffer.len() > LINE_MAX {
                if !skipping {
                    let _ = to.send(Message::TooLong(writer));
                }
                skipping = true;
                buffer.clear();
            }
            continue;
        };
        let rest = buffer.split_off(begin + last + 1);
        let mut lines = std::mem::replace(&mut buffer, rest);
        if std::mem::take(&mut skipping) {
            // The end of the line that was left out.
            let end = memchr::memchr(b'\n', &lines).map_or(lines.len(), |end| end + 1);
            lines.drain(..end);
        }
        if to.send(Message::Lines(writer, lines)).is_err() {
            return;
        }
    }
    if !buffer.is_empty() {
        let _ = to.send(Message::Cut(writer, buffer));
    }
    let _ = to.send(Message::Closed(writer));
}

/// Reads standard input.
pub fn stdin(to: SyncSender<Message>) {
    let _ = to.send(Message::Opened(0));
    std::thread::spawn(move || pump(io::stdin(), 0, &to, |_| false));
}

/// Reads a file, and goes on as it grows if it is to be followed.
pub fn file(path: &Path, follow: bool, to: SyncSender<Message>) -> io::Result<()> {
    let opened = File::open(path)?;
    if opened.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let path = path.to_owned();
    let _ = to.send(Message::Opened(0));
    std::thread::spawn(move || {
        let file = Arc::new(std::sync::Mutex::new(Followed { file: opened, at: 0 }));
        let again = Arc::clone(&file);
        let at_end = move |replaced: &mut bool| {
            if follow {
                *replaced = again.lock().is_ok_and(|mut followed| followed.reopen(&path));
                std::thread::sleep(POLL);
            }
            follow
        };
        pump(Handle(file), 0, &to, at_end);
    });
    Ok(())
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

/// Takes writers as they come. Answers where it listens.
pub fn listen(address: &Address, to: SyncSender<Message>) -> io::Result<String> {
    let next = Arc::new(AtomicU64::new(1));
    match address {
        Address::Unix(path) => {
            // What a monitor that was killed left behind is no reason not to start.
            if std::os::unix::net::UnixStream::connect(path).is_err() && is_socket(path) {
                let _ = std::fs::remove_file(path);
            }
            let listener = UnixListener::bind(path)?;
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    accept(stream, &next, &to);
                }
            });
            Ok(format!("unix:{}", path.display()))
        }
        Address::Tcp(name) => {
            let listener = TcpListener::bind(name)?;
            let bound = listener.local_addr()?;
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    accept(stream, &next, &to);
                }
            });
            Ok(format!("tcp:{bound}"))
        }
    }
}

fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.symlink_metadata().is_ok_and(|about| about.file_type().is_socket())
}

fn accept(stream: impl Read + Send + 'static, next: &AtomicU64, to: &SyncSender<Message>) {
    let writer = next.fetch_add(1, Ordering::Relaxed);
    let to = to.clone();
    // In this order nothing of a writer comes before it.
    let _ = to.send(Message::Opened(writer));
    std::thread::spawn(move || pump(stream, writer, &to, |_| false));
}
