//! The XML of figure 7: an `observation` for each group of histories, `thread`, `op` and `history` inside.
//!
//! Only what this format uses is read: elements, attributes, text, comments and the five entities. Departures: results and arguments
//! stand in one text (`value="200" result="Fail"`) as in the figure; the set says its version, object and matrix; several sets
//! may stand in one `observations`.

use super::file::{FileError, Group, ObservationSet, VERSION, groups, of_groups, thread_column, thread_name};
use crate::calls::Calls;
use crate::matrix::Matrix;
use crate::results::Results;

/// Writes sets.
pub fn write_xml(sets: &[ObservationSet], calls: &Calls, results: &Results) -> String {
    let mut text = String::new();
    if sets.len() != 1 {
        text += &format!("<observations version=\"{VERSION}\">\n");
    }
    for set in sets {
        text += &format!(
            "<observationset version=\"{VERSION}\" object=\"{}\" matrix=\"{}\">\n",
            escaped(&set.object),
            escaped(&set.matrix.to_text(calls))
        );
        for group in groups(set, calls, results) {
            text += &write_group(&group, results.text(Results::VOID));
        }
        text += "</observationset>\n";
    }
    if sets.len() != 1 {
        text += "</observations>\n";
    }
    text
}

fn write_group(group: &Group, void: &str) -> String {
    let mut text = "  <observation>\n".to_owned();
    let mut first = vec![0; group.threads.len()];
    let mut next = 1;
    for (column, thread) in group.threads.iter().enumerate() {
        first[column] = next;
        if column == 0 && thread.is_empty() {
            continue;
        }
        let ids = thread.iter().enumerate().map(|(place, (_, result))| {
            let blocks = if result.is_none() { "B" } else { "" };
            format!("{}{blocks}", next + place)
        });
        let ids = ids.collect::<Vec<_>>().join(" ");
        text += &format!("    <thread id=\"{}\">{ids}</thread>\n", thread_name(column));
        next += thread.len();
    }
    for (column, thread) in group.threads.iter().enumerate() {
        for (place, (name, result)) in thread.iter().enumerate() {
            text += &write_op(first[column] + place, name, result.as_deref().filter(|result| *result != void));
        }
    }
    for order in &group.histories {
        let mut places = vec![0; group.threads.len()];
        let mut parts = Vec::new();
        for &column in order {
            let at = usize::from(column);
            let id = first[at] + places[at];
            let blocks = group.threads[at][places[at]].1.is_none();
            places[at] += 1;
            parts.push(if blocks { format!("{id}[ #") } else { format!("{id}[ ]{id}") });
        }
        text += &format!("    <history>{}</history>\n", parts.join(" "));
    }
    text + "  </observation>\n"
}

/// A name such as `Add(200)` is a method and what it is called with.
fn write_op(id: usize, name: &str, result: Option<&str>) -> String {
    let (method, value) = match name.split_once('(') {
        Some((method, rest)) if rest.ends_with(')') => (method, Some(&rest[..rest.len() - 1])),
        _ => (name, None),
    };
    let mut parts = Vec::new();
    match value {
        Some("") => {}
        Some(value) => parts.push(format!("value=\"{}\"", escaped(value))),
        // A name without parentheses must come back without them.
        None => parts.push("field".to_owned()),
    }
    parts.extend(result.map(|result| format!("result=\"{}\"", escaped(result))));
    let method = escaped(method);
    if parts.is_empty() {
        return format!("    <op id=\"{id}\" name=\"{method}\" />\n");
    }
    format!("    <op id=\"{id}\" name=\"{method}\">{}</op>\n", parts.join(" "))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&apos;",
            letter if letter.is_control() => escaped += &format!("&#{};", u32::from(letter)),
            letter => escaped.push(letter),
        }
    }
    escaped
}

fn unescaped(text: &str, line: usize) -> Result<String, FileError> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain += before;
        let (entity, after) = after.split_once(';').ok_or_else(|| malformed(line, "`;` after an entity"))?;
        plain.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            number => {
                let code = number.strip_prefix('#').and_then(|digits| digits.parse().ok()).and_then(char::from_u32);
                code.ok_or_else(|| malformed(line, "an entity such as &amp; or &#10;"))?
            }
        });
        rest = after;
    }
    Ok(plain + rest)
}

fn malformed(line: usize, expected: &str) -> FileError {
    FileError::Malformed { line, expected: expected.to_owned() }
}

/// A piece of the file.
enum Piece {
    /// The beginning of an element; whether it is also its end.
    Start { name: String, attributes: Vec<(String, String)>, closed: bool },
    End(String),
    Text(String),
}

/// Splits the file; each piece with its line.
fn pieces(text: &str) -> Result<Vec<(usize, Piece)>, FileError> {
    let mut pieces = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while !rest.is_empty() {
        let (piece, length) = if let Some(inside) = rest.strip_prefix("<!--") {
            let end = inside.find("-->").ok_or_else(|| malformed(line, "the end of a comment, -->"))?;
            (None, end + 7)
        } else if rest.starts_with("<?") {
            (None, rest.find("?>").ok_or_else(|| malformed(line, "?>"))? + 2)
        } else if let Some(inside) = rest.strip_prefix('<') {
            let end = tag_end(inside).ok_or_else(|| malformed(line, "the end of a tag, >"))?;
            (Some(tag(&inside[..end], line)?), end + 2)
        } else {
            let end = rest.find('<').unwrap_or(rest.len());
            (Some(Piece::Text(rest[..end].to_owned())), end)
        };
        pieces.extend(piece.map(|piece| (line, piece)));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    Ok(pieces)
}

/// Where a tag ends; not inside of quotation marks.
fn tag_end(text: &str) -> Option<usize> {
    let mut quoted = false;
    text.char_indices().find_map(|(at, letter)| {
        quoted ^= letter == '"';
        (letter == '>' && !quoted).then_some(at)
    })
}

fn tag(text: &str, line: usize) -> Result<Piece, FileError> {
    if let Some(name) = text.strip_prefix('/') {
        return Ok(Piece::End(name.trim().to_owned()));
    }
    let (text, closed) = text.strip_suffix('/').map_or((text, false), |text| (text, true));
    let (name, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    Ok(Piece::Start { name: name.to_owned(), attributes: attributes(rest, line)?, closed })
}

/// `name="value"` again and again; a word without a value has none.
fn attributes(text: &str, line: usize) -> Result<Vec<(String, String)>, FileError> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(|letter: char| letter == '=' || letter.is_whitespace()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let Some(after) = after.strip_prefix('=') else {
            found.push((name.to_owned(), String::new()));
            rest = after.trim_start();
            continue;
        };
        let inside = after.strip_prefix('"').ok_or_else(|| malformed(line, "a value in quotation marks"))?;
        let (value, after) = inside.split_once('"').ok_or_else(|| malformed(line, "the closing quotation mark"))?;
        found.push((name.to_owned(), unescaped(value, line)?));
        rest = after.trim_start();
    }
    Ok(found)
}

/// One set as it is read.
#[derive(Default)]
struct Reading {
    object: String,
    matrix: Option<String>,
    groups: Vec<Group>,
}

/// A group as it is read: names of operations are known only after its threads.
#[derive(Default)]
struct GroupReading {
    threads: Vec<(usize, Vec<(String, bool)>)>,
    ops: Vec<(String, String, Option<String>)>,
    histories: Vec<(usize, String)>,
}

/// Reads sets. `otherwise` is the matrix of a set that does not say its own, as in the paper.
pub fn read_xml(
    text: &str,
    calls: &Calls,
    results: &mut Results,
    otherwise: Option<&Matrix>,
) -> Result<Vec<ObservationSet>, FileError> {
    let void = results.text(Results::VOID).to_owned();
    let mut sets = Vec::new();
    for reading in read_sets(text, &void)? {
        let matrix = match (&reading.matrix, otherwise) {
            (Some(text), _) => Matrix::parse(text, calls).map_err(FileError::Matrix)?,
            (None, Some(matrix)) => matrix.clone(),
            (None, None) => return Err(malformed(0, "an observationset that says its matrix, or --matrix")),
        };
        let columns = matrix.columns.len() + 1;
        let mut groups = reading.groups;
        for group in &mut groups {
            if group.threads.len() > columns {
                return Err(FileError::Operation(format!("thread {}", thread_name(group.threads.len() - 1))));
            }
            group.threads.resize(columns, Vec::new());
        }
        let observation = of_groups(&groups, &matrix, calls, results)?;
        sets.push(ObservationSet { object: reading.object, matrix, observation });
    }
    Ok(sets)
}

fn read_sets(text: &str, void: &str) -> Result<Vec<Reading>, FileError> {
    let mut sets: Vec<Reading> = Vec::new();
    let mut group: Option<GroupReading> = None;
    // The element whose text comes: its name and attributes.
    let mut inside: Option<(String, Vec<(String, String)>)> = None;
    for (line, piece) in pieces(text)? {
        match piece {
            Piece::Start { name, attributes, closed } => match name.as_str() {
                "observations" => version(&attributes)?,
                "observationset" => {
                    version(&attributes)?;
                    let object = attribute(&attributes, "object").unwrap_or_default();
                    let matrix = attribute(&attributes, "matrix");
                    sets.push(Reading { object, matrix, groups: vec![] });
                }
                "observation" => group = Some(GroupReading::default()),
                "thread" | "op" | "history" if closed => {
                    element(&mut group, &name, &attributes, "", void, line)?;
                }
                "thread" | "op" | "history" => inside = Some((name, attributes)),
                _ => return Err(malformed(line, "observationset, observation, thread, op or history")),
            },
            Piece::Text(text) => match inside.take() {
                Some((name, attributes)) => element(&mut group, &name, &attributes, &text, void, line)?,
                None if text.trim().is_empty() => {}
                None => return Err(malformed(line, "an element")),
            },
            Piece::End(name) => {
                // An element without text.
                if let Some((name, attributes)) = inside.take() {
                    element(&mut group, &name, &attributes, "", void, line)?;
                }
                if name == "observation" {
                    let done = group.take().ok_or_else(|| malformed(line, "an observation that was opened"))?;
                    let set = sets.last_mut().ok_or_else(|| malformed(line, "an observationset around it"))?;
                    set.groups.push(done.finish()?);
                }
            }
        }
    }
    if group.is_some() || inside.is_some() {
        return Err(malformed(0, "the end of an observation"));
    }
    if sets.is_empty() {
        return Err(malformed(0, "an observationset"));
    }
    Ok(sets)
}

fn attribute(attributes: &[(String, String)], name: &str) -> Option<String> {
    attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
}

/// The paper's own files say no version.
fn version(attributes: &[(String, String)]) -> Result<(), FileError> {
    match attribute(attributes, "version") {
        Some(version) if version != VERSION.to_string() => Err(FileError::Version(version.chars().take(40).collect())),
        _ => Ok(()),
    }
}

fn element(
    group: &mut Option<GroupReading>,
    name: &str,
    attributes: &[(String, String)],
    text: &str,
    void: &str,
    line: usize,
) -> Result<(), FileError> {
    let group = group.as_mut().ok_or_else(|| malformed(line, "an observation around it"))?;
    let id = || attribute(attributes, "id").ok_or_else(|| malformed(line, "an attribute id"));
    match name {
        "thread" => {
            let column = thread_column(&id()?).ok_or_else(|| malformed(line, "a thread A to P or main"))?;
            let ids = text.split_whitespace().map(|word| match word.strip_suffix('B') {
                Some(id) => (id.to_owned(), true),
                None => (word.to_owned(), false),
            });
            group.threads.push((column, ids.collect()));
        }
        "op" => {
            let method = attribute(attributes, "name").ok_or_else(|| malformed(line, "an attribute name"))?;
            let parts = self::attributes(text, line)?;
            let value = attribute(&parts, "value").unwrap_or_default();
            let field = parts.iter().any(|(name, _)| name == "field");
            let name = if field { method } else { format!("{method}({value})") };
            let result = attribute(&parts, "result").unwrap_or_else(|| void.to_owned());
            group.ops.push((id()?, name, Some(result)));
        }
        _ => group.histories.push((line, text.to_owned())),
    }
    Ok(())
}

impl GroupReading {
    fn finish(self) -> Result<Group, FileError> {
        let columns = self.threads.iter().map(|(column, _)| column + 1).max().unwrap_or(0);
        let mut threads = vec![Vec::new(); columns];
        let mut owners: Vec<(String, u8, usize)> = Vec::new();
        for (column, ids) in &self.threads {
            for (id, blocks) in ids {
                let op = self.ops.iter().find(|(other, ..)| other == id);
                let (_, name, result) =
                    op.ok_or_else(|| malformed(0, &format!("an op with the id {}", id.chars().take(20).collect::<String>())))?;
                owners.push((id.clone(), *column as u8, threads[*column].len()));
                threads[*column].push((name.clone(), result.clone().filter(|_| !blocks)));
            }
        }
        let histories = self.histories.iter().map(|(line, text)| order(text, &owners, *line));
        Ok(Group { threads, histories: histories.collect::<Result<_, _>>()? })
    }
}

/// The columns of a history such as `1[ ]1 3[ #`.
fn order(text: &str, owners: &[(String, u8, usize)], line: usize) -> Result<Vec<u8>, FileError> {
    let mut columns = Vec::new();
    let mut open: Option<&str> = None;
    for word in text.split_whitespace() {
        match (word.strip_suffix('['), word.strip_prefix(']'), open) {
            (Some(id), _, None) => {
                let owner = owners.iter().find(|(other, ..)| other == id);
                let (_, column, place) = owner.ok_or_else(|| malformed(line, "an operation of the threads above"))?;
                if columns.iter().filter(|other| *other == column).count() != *place {
                    return Err(malformed(line, "the operations of a thread in their order"));
                }
                columns.push(*column);
                open = Some(id);
            }
            (_, Some(id), Some(other)) if id == other => open = None,
            _ if word == "#" => open = None,
            _ => return Err(malformed(line, "a serial history such as `1[ ]1 2[ #`")),
        }
    }
    Ok(columns)
}
