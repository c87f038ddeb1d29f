//! The lines at the bottom of a terminal that show what is going on, and the prompt at a question.
//! What is said for good goes above them and stays.
//!
//! The cursor always rests where the lines begin, never where they end. Whatever a terminal does
//! with them when it is resized, drawing starts at the cursor and clears what is below it, so
//! nothing above is ever touched and no row has to be counted. Lines are written over each other
//! and not cleared before, so nothing flickers.

use super::fit::{Ink, PaintedLine, end};
use super::frame::{NARROWEST, wrapped};
use super::view::RunView;
use crate::world::wait::now;
use loop_base::text::sanitise;
use loop_base::time::Timestamp;
use signal_hook::consts::SIGCONT;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

/// Often enough to show that it is alive, seldom enough to cost nothing.
const TICK: Duration = Duration::from_millis(200);

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// A terminal that does not say how wide it is.
const USUAL: (usize, usize) = (80, 24);

/// Rows that are left for what was said before.
const ROWS_LEFT: usize = 3;

/// What is shown on the last lines of a terminal.
pub(crate) trait View: Send + 'static {
    /// The lines at a moment, no wider than this.
    fn lines(&self, now: Timestamp, spinner: &str, width: usize) -> Vec<PaintedLine>;

    /// What is shown below a prompt.
    fn pending(&self, now: Timestamp, width: usize) -> Option<PaintedLine>;
}

impl View for RunView {
    fn lines(&self, now: Timestamp, spinner: &str, width: usize) -> Vec<PaintedLine> {
        self.lines(now, spinner, width)
    }

    fn pending(&self, now: Timestamp, width: usize) -> Option<PaintedLine> {
        self.pending(now, width)
    }
}

/// A terminal's last lines. Clones draw on the same terminal.
pub(crate) struct Screen<V = RunView> {
    shared: Arc<Shared<V>>,
}

impl<V> Clone for Screen<V> {
    fn clone(&self) -> Screen<V> {
        Screen { shared: Arc::clone(&self.shared) }
    }
}

struct Shared<V> {
    canvas: Mutex<Canvas<V>>,
    bell: Condvar,
}

struct Canvas<V> {
    view: V,
    prompt: Option<Prompt>,
    /// How many looks there were.
    frame: usize,
    in_colour: bool,
    /// What was written last; the same is not written again, so that it can be selected and copied.
    last: String,
    /// Somebody else wrote to the terminal while we were stopped.
    continued: Arc<AtomicBool>,
    is_over: bool,
    ticker: Option<JoinHandle<()>>,
}

/// A question that is being answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prompt {
    /// What can be said, in full and in short.
    pub offer: String,
    pub short: String,
    pub typed: String,
    /// Why the last line was no answer.
    pub note: Option<String>,
}

impl<V: View> Screen<V> {
    pub(crate) fn new(view: V, in_colour: bool) -> Screen<V> {
        let continued = Arc::new(AtomicBool::new(false));
        // Without it the lines come back at their next change.
        let _is_rare = signal_hook::flag::register(SIGCONT, Arc::clone(&continued));
        let canvas = Canvas {
            view,
            prompt: None,
            frame: 0,
            in_colour,
            last: String::new(),
            continued,
            is_over: false,
            ticker: None,
        };
        let screen = Screen { shared: Arc::new(Shared { canvas: Mutex::new(canvas), bell: Condvar::new() }) };
        let ticking = screen.clone();
        // Without a thread of its own the lines only move when something happens.
        let ticker = std::thread::Builder::new().name("screen".to_owned()).spawn(move || ticking.tick());
        screen.canvas().ticker = ticker.ok();
        screen
    }

    /// Changes what is shown.
    pub(crate) fn show(&self, change: impl FnOnce(&mut V)) {
        let mut canvas = self.canvas();
        change(&mut canvas.view);
        canvas.draw(None);
    }

    /// Shows a prompt, or takes it away.
    pub(crate) fn prompt(&self, prompt: Option<&Prompt>) {
        let mut canvas = self.canvas();
        canvas.prompt = prompt.cloned();
        canvas.draw(None);
    }

    /// Says something that stays.
    pub(crate) fn line(&self, text: &str) {
        self.canvas().draw(Some(text));
    }

    /// Takes the lines away for good.
    pub(crate) fn close(&self) {
        let mut canvas = self.canvas();
        if canvas.is_over {
            return;
        }
        canvas.is_over = true;
        write("\r\u{1b}[J");
        let ticker = canvas.ticker.take();
        drop(canvas);
        self.shared.bell.notify_all();
        if let Some(ticker) = ticker {
            let _it_only_draws = ticker.join();
        }
    }

    fn tick(&self) {
        let mut canvas = self.canvas();
        while !canvas.is_over {
            canvas.frame += 1;
            canvas.draw(None);
            canvas = match self.shared.bell.wait_timeout(canvas, TICK) {
                Ok((canvas, _)) => canvas,
                Err(_) => return,
            };
        }
    }

    fn canvas(&self) -> MutexGuard<'_, Canvas<V>> {
        // What is drawn is only looked at; a panic elsewhere must not become another one.
        self.shared.canvas.lock().unwrap_or_else(|it| it.into_inner())
    }
}

impl<V: View> Canvas<V> {
    /// Draws everything, below something that stays. One write, so that nobody sees half of it.
    fn draw(&mut self, said: Option<&str>) {
        let mut out = String::from("\r");
        if let Some(text) = said {
            out.push_str("\u{1b}[J");
            // A secret that is broken over two rows would not be found any more.
            let text = loop_base::secret::redact(&sanitise(text)).into_owned();
            for line in text.lines().flat_map(|it| rows(it, size().0)) {
                let _ = write!(out, "{line}\r\n");
            }
        }
        if self.is_over {
            if said.is_some() {
                write(&out);
            }
            return;
        }
        let (columns, rows) = size();
        // The last column is left free: some terminals wrap when it is written to, some later.
        let (lines, column) = self.lines(columns.saturating_sub(1));
        let lines: Vec<String> = lines
            .iter()
            .take(rows.saturating_sub(ROWS_LEFT).max(1))
            .map(|it| it.painted(self.in_colour))
            .collect();
        out.push_str(&lines.join("\u{1b}[K\r\n"));
        out.push_str("\u{1b}[J");
        if 1 < lines.len() {
            let _ = write!(out, "\u{1b}[{}A", lines.len() - 1);
        }
        out.push('\r');
        if column != 0 {
            let _ = write!(out, "\u{1b}[{column}C");
        }
        if self.continued.swap(false, Ordering::Relaxed) || out != self.last {
            write(&out);
        }
        self.last = out;
    }

    /// The lines, and the column of the first one where the cursor rests.
    fn lines(&self, width: usize) -> (Vec<PaintedLine>, usize) {
        let Some(prompt) = &self.prompt else {
            return (self.view.lines(now(), SPINNER[self.frame % SPINNER.len()], width), 0);
        };
        let mut first = PaintedLine::default();
        let is_long = width < prompt.offer.width() + ROOM_TO_TYPE;
        first.push(Ink::Bold, format!("{}? ", if is_long { &prompt.short } else { &prompt.offer }));
        let mut first = first.cut(width.saturating_sub(ROOM_TO_TYPE));
        let typed = end(&prompt.typed, width.saturating_sub(first.width() + 1)).to_owned();
        first.push(Ink::Plain, typed);
        let column = first.width();
        let mut lines = vec![first];
        if let Some(note) = &prompt.note {
            lines.extend(wrapped(&format!("  {note}"), width).into_iter().map(|it| {
                let mut line = PaintedLine::default();
                line.push(Ink::Bad, it);
                line
            }));
        }
        lines.extend(self.view.pending(now(), width));
        (lines, column)
    }
}

/// What stands before a command in a line.
const COMMANDS: [&str; 4] = ["next: ", "  or: ", "continue with: ", "open this session: "];

/// An answer should be seen while it is typed, also on a narrow terminal.
const ROOM_TO_TYPE: usize = 12;

/// Returns the rows that a line takes on a terminal of this width. A command stays on one row however
/// long it is, because people paste it.
pub(crate) fn rows(line: &str, columns: usize) -> Vec<String> {
    let is_command = COMMANDS.iter().any(|it| line.contains(it));
    if is_command { vec![line.to_owned()] } else { wrapped(line, columns.max(NARROWEST)) }
}

/// Prints lines for people, broken at their words where a terminal is narrow.
pub(crate) fn say(text: &str) {
    broken(text).iter().for_each(|it| eprintln!("{it}"));
}

/// Prints words that are answered on the same line.
pub(super) fn ask(text: &str) {
    let mut rows = broken(text);
    let last = rows.pop().unwrap_or_default();
    rows.iter().for_each(|it| eprintln!("{it}"));
    eprint!("{last} ");
}

fn broken(text: &str) -> Vec<String> {
    match columns() {
        Some(columns) => text.lines().flat_map(|it| rows(it, columns)).collect(),
        None => vec![text.to_owned()],
    }
}

/// Whether lines can be drawn over each other, and in colour.
pub(crate) fn abilities() -> Option<bool> {
    let terminal = std::env::var("TERM").unwrap_or_default();
    if terminal.is_empty() || terminal == "dumb" {
        return None;
    }
    Some(std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty()))
}

/// Returns how wide the terminal is that messages go to, if it is one.
pub(crate) fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|it| *it != 0)
}

fn size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(rustix::stdio::stderr()) {
        Ok(size) if size.ws_col != 0 && size.ws_row != 0 => (size.ws_col.into(), size.ws_row.into()),
        Ok(_) | Err(_) => USUAL,
    }
}

fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let shown = loop_base::secret::redact(text);
    let _nobody_reads = stderr.write_all(shown.as_bytes()).and_then(|()| stderr.flush());
}
