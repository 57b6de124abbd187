//! The table of an interleaving: a column for each thread, in the width of a terminal.
//!
//! Invariant: no line is wider than the terminal; where columns would be too narrow to read, the rows become a list.

use super::*;

/// Draws the rows.
pub fn table(rows: &[Row]) -> String {
    let mut threads: Vec<u16> = rows.iter().map(|row| row.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let wanted: Vec<usize> = threads
        .iter()
        .map(|&thread| {
            let texts = rows.iter().filter(|row| row.thread == thread).map(|row| row.words().width());
            texts.max().unwrap_or(0).max(HEADING)
        })
        .collect();
    let place = rows.iter().map(|row| row.place.width()).max().unwrap_or(0).min(PLACE_MAX);
    let room = |place: usize| (WIDTH - INDENT.len() - place).saturating_sub(threads.len() * BETWEEN.len());
    // Where it gets narrow and there is only one file, its name is told once.
    if wanted.iter().sum::<usize>() > room(place)
        && let Some((file, short)) = in_one_file(rows)
    {
        let place = short.iter().map(|row| row.place.width()).max().unwrap_or(0);
        return format!("{INDENT}Lines of {file}:\n\n{}", columns(&short, &threads, &wanted, place, room(place)));
    }
    columns(rows, &threads, &wanted, place, room(place))
}

/// The rows without the name of the file, when all are of one.
fn in_one_file(rows: &[Row]) -> Option<(&str, Vec<Row>)> {
    let (file, _) = rows.iter().find_map(|row| row.place.rsplit_once(':'))?;
    let mut short = rows.to_vec();
    for row in short.iter_mut().filter(|row| !row.place.is_empty()) {
        let (own, line) = row.place.rsplit_once(':')?;
        if own != file {
            return None;
        }
        row.place = format!(":{line}");
    }
    Some((file, short))
}

fn columns(rows: &[Row], threads: &[u16], wanted: &[usize], place: usize, room: usize) -> String {
    if room / threads.len() < COLUMN_MIN && wanted.iter().sum::<usize>() > room {
        return list(rows, place);
    }
    // Columns that need little leave their room to the others.
    let widths = fit(wanted, room);
    let mut text = draw_row("", place, &widths, &threads.iter().map(|thread| format!("T{thread}")).collect::<Vec<_>>());
    for row in rows {
        // What does not fit goes on in the next line, a little to the right.
        let width = threads.iter().position(|&thread| thread == row.thread).map_or(COLUMN_MIN, |at| widths[at]);
        for (number, words) in broken(&row.words(), width).into_iter().enumerate() {
            let (place_text, words) =
                if number == 0 { (row.place.as_str(), words) } else { ("", format!("  {words}")) };
            let cells = threads.iter().map(|&thread| if thread == row.thread { words.clone() } else { String::new() });
            text += &draw_row(place_text, place, &widths, &cells.collect::<Vec<_>>());
        }
    }
    text
}

/// The text in lines of the given width, the later ones with room to be indented.
pub fn broken(text: &str, width: usize) -> Vec<String> {
    if text.width() <= width { vec![text.to_owned()] } else { wrap(text, width.saturating_sub(2).max(1)) }
}

/// Widths that add up to no more than the room: the widest give way first.
fn fit(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut limit = wanted.iter().copied().max().unwrap_or(0);
    while limit > 1 && wanted.iter().map(|&width| width.min(limit)).sum::<usize>() > room {
        limit -= 1;
    }
    wanted.iter().map(|&width| width.clamp(2, limit.max(2))).collect()
}

fn draw_row(place: &str, place_width: usize, widths: &[usize], cells: &[String]) -> String {
    let mut line = format!("{INDENT}{}", pad(&shorten(place, place_width), place_width));
    for (cell, &width) in cells.iter().zip(widths) {
        line += BETWEEN;
        line += &pad(cell, width);
    }
    format!("{}\n", line.trim_end())
}

/// Cut on the left: the number of the line is at the end.
fn shorten(place: &str, width: usize) -> String {
    if place.width() <= width {
        return place.to_owned();
    }
    let mut start = place.len();
    for (at, _) in place.char_indices().rev() {
        if place[at..].width() >= width {
            break;
        }
        start = at;
    }
    format!("…{}", &place[start..])
}

pub fn pad(text: &str, width: usize) -> String {
    let text = truncate(text, width);
    let missing = width.saturating_sub(text.width());
    text + &" ".repeat(missing)
}

/// With too many threads for columns, the thread is named in front.
fn list(rows: &[Row], place: usize) -> String {
    let room = WIDTH - INDENT.len() - place - 8;
    let line = |row: &Row| {
        format!(
            "{INDENT}{}  T{:<3}  {}\n",
            pad(&shorten(&row.place, place), place),
            row.thread,
            truncate(&row.words(), room)
        )
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(thread: u16, text: &str) -> Row {
        let site = Site { line: "a_file_with_a_long_name.c:123".into(), ..Site::default() };
        Row { times: 2, ..Row::new(&site, thread, text.into()) }
    }

    #[test]
    fn a_table_is_never_wider_than_a_terminal() {
        for threads in 1..30 {
            let rows: Vec<Row> = (0..threads).map(|thread| row(thread, &"update head ".repeat(9))).collect();
            let text = table(&rows);
            assert!(text.lines().count() >= rows.len());
            for line in text.lines() {
                assert!(line.width() <= WIDTH, "{threads} threads: {line}");
            }
        }
    }

    #[test]
    fn narrow_columns_leave_room_to_wide_ones() {
        assert_eq!(fit(&[3, 50, 50], 60), [3, 28, 28]);
        assert_eq!(fit(&[3, 5], 60), [3, 5]);
        assert_eq!(fit(&[3, 9], 7), [3, 4]);
    }

    #[test]
    fn the_number_of_a_line_is_never_cut() {
        assert_eq!(shorten("lost_update.c:12", 16), "lost_update.c:12");
        assert_eq!(shorten("lost_update.c:12", 10), "…date.c:12");
        assert_eq!(shorten("漢字漢字.c:12", 9), "…字.c:12");
    }
}
