//! Turns printed output into the lines that a person would see: without colour codes, and with a
//! carriage return ending a line as a line feed does, because progress bars redraw with it.

use loop_base::text::without_escapes;

/// More of a line is not read: no runner writes a test name behind that.
const LINE_LIMIT: usize = 64 * 1024;

pub(super) fn plain(output: &str) -> Vec<String> {
    let ends = |it: &str| {
        let end = (0..=it.len().min(LINE_LIMIT)).rev().find(|end| it.is_char_boundary(*end)).unwrap_or(0);
        without_escapes(&it[..end])
    };
    output.split(['\n', '\r']).map(ends).collect()
}
