//! A timeline: one lane a thread, one bar an operation, placed by the order of events.
//!
//! Invariant: a call or return stands to the right of another exactly when it came later, and every line fits
//! [`WIDTH`] columns. Columns carry no time: only the events shown take up room. Where the labels do not fit, bars carry
//! letters instead, and the list below says what they are.

use unicode_width::UnicodeWidthStr;

use super::{FAIL, FAINT, WIDTH, paint, truncate};

/// The most bars that fit with letters, whatever their order.
pub const BARS_MAX: usize = 10;
const INDENT: usize = 2;
const LANE_MAX: usize = 14;
/// What stands at the end of an operation that never returned.
const OPEN: &str = "...";

/// One operation to draw.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The thread, for the order of the lanes.
    pub thread: u32,
    /// The thread's name.
    pub lane: String,
    /// What is written on the bar.
    pub label: String,
    /// The position of the call among all events.
    pub call: u32,
    /// The position of the return, if it returned.
    pub end: Option<u32>,
    /// Where it is in the file.
    pub lines: String,
    /// Whether it is the one to look at.
    pub blamed: bool,
}

/// Draws the bars, and lists them with their lines. At most [`BARS_MAX`] of them.
pub fn draw(bars: &[Bar]) -> String {
    let mut bars: Vec<Bar> = bars.iter().take(BARS_MAX).cloned().collect();
    bars.sort_by_key(|bar| bar.call);
    let lanes = lanes(&bars);
    let name_width = bars.iter().map(|bar| lane_name(bar).width()).max().unwrap_or(0);
    let room = WIDTH - INDENT - name_width - 2;
    let labels: Vec<String> = bars.iter().map(|bar| bar.label.clone()).collect();
    let letters: Vec<String> = ('a'..='z').take(bars.len()).map(String::from).collect();
    let full = Layout::new(&bars, &lanes, &labels);
    let (layout, lettered) =
        if full.width <= room { (full, false) } else { (Layout::new(&bars, &lanes, &letters), true) };
    let mut out = String::new();
    for lane in &lanes {
        let name = lane_name(&bars[lane[0]]);
        let pad = " ".repeat(name_width - name.width());
        out.push_str(&format!("{}{name}{pad}  {}\n", " ".repeat(INDENT), layout.lane(&bars, lane)));
    }
    out.push('\n');
    out.push_str(&list(&bars, lettered.then_some(&letters)));
    out
}

fn lane_name(bar: &Bar) -> String {
    truncate(&bar.lane, LANE_MAX)
}

/// The bars of each lane, by index, in order. A thread has one lane, and more only where it went on after a crash.
fn lanes(bars: &[Bar]) -> Vec<Vec<usize>> {
    let mut lanes: Vec<Vec<usize>> = Vec::new();
    for (i, bar) in bars.iter().enumerate() {
        let free = |lane: &&mut Vec<usize>| {
            let last = &bars[lane[lane.len() - 1]];
            last.thread == bar.thread && last.end.is_some_and(|end| end < bar.call)
        };
        match lanes.iter_mut().find(free) {
            Some(lane) => lane.push(i),
            None => lanes.push(vec![i]),
        }
    }
    lanes.sort_by_key(|lane| bars[lane[0]].thread);
    lanes
}

/// The columns of every bar.
struct Layout<'a> {
    labels: &'a [String],
    /// The columns of call and return.
    columns: Vec<(usize, Option<usize>)>,
    width: usize,
}

impl<'a> Layout<'a> {
    /// Places each event as far left as the events before it and the labels allow.
    fn new(bars: &[Bar], lanes: &[Vec<usize>], labels: &'a [String]) -> Self {
        let mut before = vec![None; bars.len()];
        for pair in lanes.iter().flat_map(|lane| lane.windows(2)) {
            before[pair[1]] = Some(pair[0]);
        }
        let mut events: Vec<(u32, usize, bool)> = Vec::new();
        for (i, bar) in bars.iter().enumerate() {
            events.push((bar.call, i, false));
            events.extend(bar.end.map(|end| (end, i, true)));
        }
        events.sort_unstable();
        let mut columns = vec![(0, None); bars.len()];
        let (mut next, mut width) = (0, 0);
        for (_, i, is_return) in events {
            let least = least_width(&labels[i]);
            let column: usize = if is_return {
                let column = next.max(columns[i].0 + least);
                columns[i].1 = Some(column);
                column
            } else {
                let gap = before[i].and_then(|before: usize| columns[before].1).map_or(0, |end| end + 2);
                columns[i].0 = next.max(gap);
                columns[i].0
            };
            next = column + 1;
            let open = if bars[i].end.is_none() { least } else { 0 };
            width = width.max(column + 1 + open);
        }
        if bars.iter().any(|bar| bar.end.is_none()) {
            width += OPEN.len();
        }
        Layout { labels, columns, width }
    }

    fn lane(&self, bars: &[Bar], lane: &[usize]) -> String {
        let mut line = String::new();
        let mut at = 0;
        for &i in lane {
            let (call, end) = self.columns[i];
            line.push_str(&" ".repeat(call - at));
            let label = &self.labels[i];
            let until = end.unwrap_or(self.width - OPEN.len());
            let dashes = until - call - 1 - label.width();
            let left = (dashes / 2).min(2);
            let close = if end.is_some() { "|" } else { OPEN };
            let bar = format!("|{}{label}{}{close}", "-".repeat(left), "-".repeat(dashes - left));
            at = until + close.len();
            line.push_str(&if bars[i].blamed { paint(FAIL, bar) } else { bar });
        }
        line
    }
}

/// From the call to the return of the shortest bar with that label: `|-label-|`.
fn least_width(label: &str) -> usize {
    label.width() + 3
}

/// Every bar with its thread and lines, in the order of the calls.
fn list(bars: &[Bar], letters: Option<&Vec<String>>) -> String {
    let label_width = bars.iter().map(|bar| bar.label.width()).max().unwrap_or(0).min(40);
    let name_width = bars.iter().map(|bar| lane_name(bar).width()).max().unwrap_or(0);
    let mut out = String::new();
    for (i, bar) in bars.iter().enumerate() {
        let label = truncate(&bar.label, 40);
        let letter = letters.map_or(String::new(), |letters| format!("{}  ", letters[i]));
        let label_pad = " ".repeat(label_width - label.width());
        let name = lane_name(bar);
        let name_pad = " ".repeat(name_width - name.width());
        let place = paint(FAINT, format!("{name}{name_pad}  {}", bar.lines));
        out.push_str(&format!("{}{letter}{label}{label_pad}  {place}\n", " ".repeat(INDENT)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bars from `(thread, label, call, return)`, drawn without colours.
    fn check(bars: &[(u32, &str, u32, Option<u32>)], expect: &[&str]) {
        let bars: Vec<Bar> = bars
            .iter()
            .map(|&(thread, label, call, end)| Bar {
                thread,
                lane: format!("t{thread}"),
                label: label.to_owned(),
                call,
                end,
                lines: String::new(),
                blamed: false,
            })
            .collect();
        let drawn = anstream::adapter::strip_str(&draw(&bars)).to_string();
        for line in drawn.lines() {
            assert!(line.width() <= WIDTH, "{} columns: {line}", line.width());
        }
        let lanes: Vec<&str> = drawn.lines().take_while(|line| !line.is_empty()).collect();
        assert_eq!(lanes, expect);
    }

    #[test]
    fn order_is_position() {
        check(
            &[(0, "enq(1)", 0, Some(1)), (1, "deq→1", 2, Some(5)), (0, "enq(2)", 3, Some(4))],
            &["  t0  |-enq(1)-| |-enq(2)-|", "  t1            |--deq→1---|"],
        );
    }

    #[test]
    fn pending_operations_stay_open() {
        check(&[(0, "enq(1)", 0, None), (1, "deq→1", 2, Some(5))], &["  t0  |-enq(1)--...", "  t1   |-deq→1-|"]);
    }

    #[test]
    fn a_thread_that_goes_on_after_a_crash_has_two_lanes() {
        check(
            &[(0, "a", 0, None), (0, "b", 2, Some(3)), (1, "c", 4, Some(5))],
            &["  t0  |--a-------...", "  t0   |-b-|", "  t1        |-c-|"],
        );
    }

    #[test]
    fn wide_labels_become_letters() {
        let label = "x".repeat(36);
        check(
            &[(0, &label, 0, Some(2)), (1, &label, 1, Some(3)), (0, &label, 4, Some(5))],
            &["  t0  |-a-| |-c-|", "  t1   |-b-|"],
        );
    }

    #[test]
    fn characters_of_double_width_keep_the_columns() {
        check(&[(0, "漢字", 0, Some(1)), (1, "b", 2, Some(3))], &["  t0  |-漢字-|", "  t1          |-b-|"]);
    }

    #[test]
    fn the_most_bars_fit_whatever_their_order() {
        let bars: Vec<(u32, &str, u32, Option<u32>)> = (0..BARS_MAX as u32)
            .map(|i| (i, "a very long label indeed", 2 * i, (i % 3 != 0).then_some(2 * i + 1)))
            .collect();
        let lanes = lanes_drawn(&bars);
        assert_eq!(lanes, BARS_MAX);
        let nested: Vec<(u32, &str, u32, Option<u32>)> =
            (0..BARS_MAX as u32).map(|i| (i, "a very long label indeed", i, Some(100 - i))).collect();
        assert_eq!(lanes_drawn(&nested), BARS_MAX);
    }

    fn lanes_drawn(bars: &[(u32, &str, u32, Option<u32>)]) -> usize {
        let bars: Vec<Bar> = bars
            .iter()
            .map(|&(thread, label, call, end)| Bar {
                thread,
                lane: "a thread with a long name".to_owned(),
                label: label.to_owned(),
                call,
                end,
                lines: "lines 1000000-1000001".to_owned(),
                blamed: thread == 0,
            })
            .collect();
        let drawn = anstream::adapter::strip_str(&draw(&bars)).to_string();
        assert!(drawn.lines().all(|line| line.width() <= WIDTH), "{drawn}");
        drawn.lines().take_while(|line| !line.is_empty()).count()
    }
}
