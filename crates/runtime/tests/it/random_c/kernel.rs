//! Pipes, sockets, `eventfd`, `poll` and `epoll` in random programs: what they do, from their manual pages alone, and how C says it.
//!
//! Channel 0 is a pipe, channel 1 a pair of sockets. Count 0 is an `eventfd`, count 1 one that gives out units. An `epoll` watches both channels and count 0.

use super::code::digit;
use super::program::{Mode, OBJECTS, Program, Statement};
use super::state::{Clock, State, Step, join};

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Writes a byte to a channel.
    Put(usize, u8),
    /// Reads a byte from a channel.
    Get(usize, Mode),
    /// Nobody writes to a channel any more.
    Shut(usize),
    /// Asks which channels can be read.
    Poll(Mode),
    /// Adds to a count.
    Add(usize, u8),
    /// Takes a count, or a unit of it; or asks whether there is one.
    Count(usize, Mode),
    /// Asks for one event.
    Event(Mode),
}

/// Whether a thread of the program waits for either of two channels.
pub fn polls(program: &Program) -> bool {
    program.threads.iter().flatten().any(|one| matches!(one, Statement::Kernel(Deed::Poll(_))))
}

/// What is on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Channel {
    bytes: Vec<(u8, Clock)>,
    shut: Option<Clock>,
}

/// Everything of that kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kernel {
    channels: [Channel; OBJECTS],
    counts: [(u64, Clock); OBJECTS],
    /// What the `epoll` may have to tell, in order: a channel, or the count.
    list: Vec<usize>,
}

const PIPE: usize = 0;
const BAD_NUMBER: u8 = 9;
const TRY_AGAIN: u8 = 11;
const BROKEN: u8 = 32;
/// The count in the list of the `epoll`.
const COUNT: usize = OBJECTS;

impl Kernel {
    pub fn forget_clocks(&mut self) {
        for channel in &mut self.channels {
            channel.bytes.iter_mut().for_each(|byte| byte.1 = Clock::default());
            channel.shut = channel.shut.map(|_| Clock::default());
        }
        self.counts.iter_mut().for_each(|count| count.1 = Clock::default());
    }

    fn happens(&mut self, source: usize) {
        if !self.list.contains(&source) {
            self.list.push(source);
        }
    }

    fn is_readable(&self, source: usize) -> bool {
        match self.channels.get(source) {
            Some(channel) => !channel.bytes.is_empty() || channel.shut.is_some(),
            None => self.counts[0].0 > 0,
        }
    }
}

impl State {
    /// A thread does that; whether events are told once, when something happens.
    pub fn kernel(mut self, thread: usize, deed: Deed, edge: bool) -> Step {
        match deed {
            Deed::Put(channel, value) => {
                let answer = self.put(thread, channel, value);
                self.threads[thread].see(answer);
            }
            Deed::Get(channel, mode) => return self.get(thread, channel, mode),
            Deed::Shut(which) => {
                let clock = self.publish(thread);
                let channel = &mut self.kernel.channels[which];
                let answer = if which == PIPE && channel.shut.is_some() { BAD_NUMBER } else { 0 };
                if answer == 0 {
                    match &mut channel.shut {
                        Some(known) => join(known, &clock),
                        None => channel.shut = Some(clock),
                    }
                    self.kernel.happens(which);
                }
                self.threads[thread].see(answer);
            }
            Deed::Poll(mode) => {
                let ready: Vec<usize> = (0..OBJECTS).filter(|&which| self.kernel.is_readable(which)).collect();
                if ready.is_empty() && mode == Mode::Wait {
                    return Step::Blocked;
                }
                ready.iter().for_each(|&which| self.sees(thread, which));
                self.threads[thread].see(ready.iter().fold(0, |set, which| set | 1 << which));
            }
            Deed::Add(which, value) => {
                let clock = self.publish(thread);
                let count = &mut self.kernel.counts[which];
                count.0 += u64::from(value);
                join(&mut count.1, &clock);
                if which == 0 {
                    self.kernel.happens(COUNT);
                }
                self.threads[thread].see(1);
            }
            Deed::Count(which, mode) => {
                let (count, known) = self.kernel.counts[which];
                if count == 0 && mode == Mode::Wait {
                    return Step::Blocked;
                }
                if count > 0 {
                    join(&mut self.threads[thread].clock, &known);
                }
                let answer = match (mode, which) {
                    (Mode::Wait, 0) => {
                        self.kernel.counts[which] = (0, Clock::default());
                        count
                    }
                    (Mode::Wait, _) => {
                        self.kernel.counts[which].0 -= 1;
                        1
                    }
                    _ => u64::from(count > 0),
                };
                self.threads[thread].see(digit(answer.into()));
            }
            Deed::Event(mode) => return self.event(thread, mode, edge),
        }
        Step::one(self)
    }

    fn put(&mut self, thread: usize, which: usize, value: u8) -> u8 {
        if let Some(shut) = self.kernel.channels[which].shut {
            if which != PIPE {
                join(&mut self.threads[thread].clock, &shut);
            }
            return if which == PIPE { BAD_NUMBER } else { BROKEN };
        }
        let clock = self.publish(thread);
        self.kernel.channels[which].bytes.push((value, clock));
        self.kernel.happens(which);
        0
    }

    fn get(mut self, thread: usize, which: usize, mode: Mode) -> Step {
        let channel = &mut self.kernel.channels[which];
        let me = &mut self.threads[thread];
        if !channel.bytes.is_empty() {
            let (value, clock) = channel.bytes.remove(0);
            join(&mut me.clock, &clock);
            me.see(value);
        } else if let Some(shut) = channel.shut {
            join(&mut me.clock, &shut);
            me.see(0);
        } else if matches!(mode, Mode::Wait | Mode::Loop) {
            return Step::Blocked;
        } else {
            me.see(TRY_AGAIN);
        }
        Step::one(self)
    }

    /// A thread is told that something can be read.
    fn sees(&mut self, thread: usize, source: usize) {
        let me = &mut self.threads[thread];
        let Some(channel) = self.kernel.channels.get(source) else {
            return join(&mut me.clock, &self.kernel.counts[0].1);
        };
        if let Some((_, clock)) = channel.bytes.first() {
            join(&mut me.clock, clock);
        }
        // A pipe says that it has hung up; a socket is only readable.
        if let Some(shut) = channel.shut.filter(|_| source == PIPE || channel.bytes.is_empty()) {
            join(&mut me.clock, &shut);
        }
    }

    fn event(mut self, thread: usize, mode: Mode, edge: bool) -> Step {
        while !self.kernel.list.is_empty() {
            let source = self.kernel.list.remove(0);
            if self.kernel.is_readable(source) {
                if !edge {
                    self.kernel.list.push(source);
                }
                self.sees(thread, source);
                self.threads[thread].see(source as u8 + 1);
                return Step::one(self);
            }
        }
        if mode == Mode::Wait {
            return Step::Blocked;
        }
        self.threads[thread].see(0);
        Step::one(self)
    }
}

/// What stands at the top of a file, and what a test begins with.
pub const PRELUDE: &str = "#include <poll.h>\n#include <sys/epoll.h>\n#include <sys/eventfd.h>\n#include <sys/socket.h>\n\
                           static int q0[2], q1[2], e0, e1, ep;\n";

/// Opens everything.
pub fn opens(edge: bool) -> String {
    let watch = |number: &str, source: usize| {
        format!(
            "{{ struct epoll_event g = {{ .events = EPOLLIN{}, .data.u32 = {} }}; epoll_ctl(ep, EPOLL_CTL_ADD, {number}, &g); }}",
            if edge { " | EPOLLET" } else { "" },
            source + 1
        )
    };
    let open = "pipe(q0); socketpair(AF_UNIX, SOCK_STREAM, 0, q1); e0 = eventfd(0, 0); e1 = eventfd(0, EFD_SEMAPHORE); \
                ep = epoll_create1(0);";
    format!("{open}\n{}\n{}\n{}", watch("q0[0]", 0), watch("q1[0]", 1), watch("e0", COUNT))
}

/// How long a call waits, in milliseconds.
fn limit(mode: Mode) -> i32 {
    match mode {
        Mode::Wait | Mode::Loop => -1,
        Mode::Try => 0,
        Mode::Timed => 7,
    }
}

/// The same in C.
pub fn text(deed: Deed) -> String {
    match deed {
        Deed::Put(PIPE, value) => format!("{{ char b = {value}; O(write(q0[1], &b, 1) == 1 ? 0 : errno); }}"),
        Deed::Put(_, value) => {
            format!("{{ char b = {value}; O(send(q1[1], &b, 1, MSG_NOSIGNAL) == 1 ? 0 : errno); }}")
        }
        Deed::Get(PIPE, _) => "{ char b = 0; O(read(q0[0], &b, 1) < 0 ? errno : b); }".into(),
        Deed::Get(_, Mode::Loop) => "{ char b = 0; while (recv(q1[0], &b, 1, MSG_DONTWAIT) < 0); O(b); }".into(),
        Deed::Get(_, mode) => {
            let flags = if mode == Mode::Wait { "0" } else { "MSG_DONTWAIT" };
            format!("{{ char b = 0; O(recv(q1[0], &b, 1, {flags}) < 0 ? errno : b); }}")
        }
        Deed::Shut(PIPE) => "O(close(q0[1]) ? errno : 0);".into(),
        Deed::Shut(_) => "O(shutdown(q1[1], SHUT_WR) ? errno : 0);".into(),
        Deed::Poll(mode) => format!(
            "{{ struct pollfd f[2] = {{ {{ q0[0], POLLIN, 0 }}, {{ q1[0], POLLIN, 0 }} }}; poll(f, 2, {}); \
             O(!!f[0].revents | !!f[1].revents << 1); }}",
            limit(mode)
        ),
        Deed::Add(which, value) => {
            format!("{{ unsigned long n = {value}; O(write(e{which}, &n, sizeof n) == sizeof n); }}")
        }
        Deed::Count(which, Mode::Wait) => {
            format!("{{ unsigned long n = 99; read(e{which}, &n, sizeof n); O(n); }}")
        }
        Deed::Count(which, _) => format!("{{ struct pollfd f = {{ e{which}, POLLIN, 0 }}; O(poll(&f, 1, 0)); }}"),
        Deed::Event(mode) => {
            format!("{{ struct epoll_event g; O(epoll_wait(ep, &g, 1, {}) > 0 ? g.data.u32 : 0); }}", limit(mode))
        }
    }
}
