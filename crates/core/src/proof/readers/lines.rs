//! Turns printed output into the lines that a person would see: without colour codes, and with a
//! carriage return ending a line as a line feed does, because progress bars redraw with it.

/// More of a line is not read: no runner writes a test name behind that.
const LINE_LIMIT: usize = 64 * 1024;

pub(super) fn plain(output: &str) -> Vec<String> {
    let ends = |it: &str| {
        let end = (0..=it.len().min(LINE_LIMIT)).rev().find(|end| it.is_char_boundary(*end)).unwrap_or(0);
        without_escapes(&it[..end])
    };
    output.split(['\n', '\r']).map(ends).collect()
}

fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after_escape(after);
    }
    plain.push_str(rest);
    plain
}

fn after_escape(after: &str) -> &str {
    if let Some(control) = after.strip_prefix('[') {
        let end = control.find(|it: char| ('@'..='~').contains(&it));
        return end.map_or("", |it| &control[it + 1..]);
    }
    if let Some(command) = after.strip_prefix(']') {
        // An operating system command (a link, a title) ends with a bell or with `ESC \`.
        let end = command.find(['\u{7}', '\u{1b}']).unwrap_or(command.len());
        let ended = &command[end..];
        let ended = ended.strip_prefix('\u{7}').or_else(|| ended.strip_prefix("\u{1b}\\"));
        return ended.unwrap_or(&command[end..]);
    }
    let mut characters = after.trim_start_matches(|it| (' '..='/').contains(&it)).chars();
    characters.next();
    characters.as_str()
}
