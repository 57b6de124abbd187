//! Writers that connect: all sockets are read by the calling thread, as far as there is something to read.
//!
//! Invariant: whoever had connected before a line was read is told before that line is. So nobody takes the lines of some writers for all that there are. A writer that cannot be taken, because
//! no more files may be open, waits, and that is said; it is taken when another one is gone.

use std::fs::File;
use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Resource, getrlimit, setrlimit};

use super::input::{Address, Lines, Message, Rest};

/// How often one writer is read in a round, so that others have their turn.
const READS_MAX: usize = 4;

/// How often writers are read once more when somebody said stop.
const ROUNDS_MAX: usize = 32;

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Listener {
    fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
            Listener::Tcp(listener) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
        }
    }

    fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Listener::Unix(listener) => listener.set_nonblocking(true),
            Listener::Tcp(listener) => listener.set_nonblocking(true),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix(listener) => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Stream {
    fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_nonblocking(true),
            Stream::Tcp(stream) => stream.set_nonblocking(true),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(buffer),
            Stream::Tcp(stream) => stream.read(buffer),
        }
    }
}

struct Writer {
    number: u64,
    stream: Stream,
    lines: Lines,
}

/// A socket that listens, and the writers that have come.
pub struct Sockets {
    listener: Listener,
    writers: Vec<Writer>,
    next: u64,
    /// Writers wait that cannot be taken.
    is_full: bool,
    /// A file that is open only so that it can be closed when writers are counted that could not be taken.
    spare: Option<File>,
}

/// Listens. Answers where.
pub fn listen(address: &Address) -> io::Result<(Sockets, String)> {
    // As many writers as this process may have.
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
    let (listener, bound) = match address {
        Address::Unix(path) => {
            // What a monitor that was killed left behind is no reason not to start.
            if UnixStream::connect(path).is_err() && is_socket(path) {
                let _ = std::fs::remove_file(path);
            }
            (Listener::Unix(UnixListener::bind(path)?), format!("unix:{}", path.display()))
        }
        Address::Tcp(name) => {
            let listener = TcpListener::bind(name)?;
            let bound = listener.local_addr()?;
            (Listener::Tcp(listener), format!("tcp:{bound}"))
        }
    };
    listener.set_nonblocking()?;
    let spare = File::open("/dev/null").ok();
    Ok((Sockets { listener, writers: Vec::new(), next: 1, is_full: false, spare }, bound))
}

fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.symlink_metadata().is_ok_and(|about| about.file_type().is_socket())
}

impl Sockets {
    /// What comes next, if something does in time: first whoever has come, then what was read.
    pub fn round(&mut self, wait: Duration) -> Vec<Message> {
        let ready = self.wait(wait);
        let mut read = Vec::new();
        let mut is_ready = ready.into_iter();
        self.writers.retain_mut(|writer| is_ready.next() != Some(true) || writer.read(&mut read));
        let mut messages = Vec::new();
        self.accept(&mut messages);
        messages.extend(read);
        messages
    }

    /// What has arrived by now, so that writers that are gone are seen to be. One that goes on and on is not waited for.
    pub fn last(&mut self) -> Vec<Message> {
        let rounds = (0..ROUNDS_MAX).map(|_| self.round(Duration::ZERO));
        rounds.take_while(|messages| !messages.is_empty()).flatten().collect()
    }

    /// Waits until there is something to read; of which writers.
    fn wait(&self, wait: Duration) -> Vec<bool> {
        let writers = self.writers.iter().map(|writer| PollFd::new(&writer.stream, PollFlags::IN));
        let mut fds: Vec<PollFd<'_>> = writers.collect();
        if !self.is_full {
            fds.push(PollFd::new(&self.listener, PollFlags::IN));
        }
        let wait = wait.try_into().ok();
        if poll(&mut fds, wait.as_ref()).is_err() {
            return vec![false; self.writers.len()];
        }
        fds.iter().take(self.writers.len()).map(|fd| !fd.revents().is_empty()).collect()
    }

    /// Takes those who have come.
    fn accept(&mut self, messages: &mut Vec<Message>) {
        let was_full = std::mem::take(&mut self.is_full);
        loop {
            match self.listener.accept() {
                Ok(stream) => match stream.set_nonblocking() {
                    Ok(()) => {
                        let number = self.next;
                        self.next += 1;
                        self.writers.push(Writer { number, stream, lines: Lines::new(number) });
                        messages.push(Message::Opened(number));
                    }
                    Err(error) => messages.push(Message::Unread(error)),
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // It was there, and may have said something.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => messages.push(Message::Unread(error)),
                Err(error) => {
                    self.is_full = true;
                    if !was_full {
                        messages.push(Message::Waiting(Some(error)));
                    }
                    break;
                }
            }
        }
        if was_full && !self.is_full {
            messages.push(Message::Waiting(None));
        }
    }

    /// Somebody said stop: how many writers are there that were never read.
    pub fn rest(&mut self) -> Option<Rest> {
        let mut unread = 0;
        if self.is_full {
            self.spare = None;
            // Each is closed at once, which makes room for the next.
            while self.listener.accept().is_ok() {
                unread += 1;
            }
        }
        self.is_full.then_some(Rest::Writers(unread))
    }
}

impl Writer {
    /// Reads what has come; whether more may come.
    fn read(&mut self, messages: &mut Vec<Message>) -> bool {
        for _ in 0..READS_MAX {
            match self.lines.read(&mut self.stream) {
                Ok((0, _)) => {
                    messages.extend(self.lines.cut());
                    messages.push(Message::Closed(self.number));
                    return false;
                }
                Ok((_, message)) => messages.extend(message),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => {
                    messages.extend(self.lines.cut());
                    messages.push(Message::Broken(self.number, error));
                    return false;
                }
            }
        }
        true
    }
}
