//! What a person sees of a pool: a line for each system that is worked on or waits for somebody, and one for all.
//! Where lines cannot be drawn over each other, only what is said for good is written.

use super::fit::{Ink, PaintedLine, Part, fit};
use super::screen::{self, Screen, View, columns, rows};
use crate::pool::{PoolSystemNow, PoolTotal};
use loop_base::text::sanitise;
use loop_base::time::{Timestamp, length};
use loop_core::engine::Status;
use std::io::IsTerminal;

#[derive(Clone, Debug, Default)]
pub(crate) struct PoolView {
    pub(crate) systems: Vec<PoolSystemNow>,
    pub(crate) total: PoolTotal,
}

/// Where a pool says what happens.
pub(crate) enum PoolScreen {
    Plain,
    Live(Screen<PoolView>),
}

impl PoolScreen {
    /// Lines are drawn over each other only where that is possible and somebody wants to see them.
    pub(crate) fn new(is_wanted: bool) -> PoolScreen {
        match screen::abilities() {
            Some(in_colour) if is_wanted && std::io::stderr().is_terminal() => {
                PoolScreen::Live(Screen::new(PoolView::default(), in_colour))
            }
            Some(_) | None => PoolScreen::Plain,
        }
    }

    /// Says something that stays.
    pub(crate) fn line(&self, text: &str) {
        match self {
            PoolScreen::Live(screen) => screen.line(text),
            PoolScreen::Plain => {
                let text = sanitise(text);
                match columns().filter(|_| std::io::stderr().is_terminal()) {
                    Some(width) => rows(&text, width).iter().for_each(|it| eprintln!("{it}")),
                    None => eprintln!("{text}"),
                }
            }
        }
    }

    /// Shows how all systems stand.
    pub(crate) fn show(&self, systems: Vec<PoolSystemNow>, total: PoolTotal) {
        if let PoolScreen::Live(screen) = self {
            screen.show(|view| *view = PoolView { systems, total });
        }
    }

    /// Takes the live lines away.
    pub(crate) fn close(&self) {
        if let PoolScreen::Live(screen) = self {
            screen.close();
        }
    }
}

impl View for PoolView {
    fn lines(&self, now: Timestamp, spinner: &str, width: usize) -> Vec<PaintedLine> {
        let longest = self.systems.iter().map(|it| it.id.chars().count()).max().unwrap_or(0);
        let mut lines: Vec<PaintedLine> =
            self.systems.iter().map(|it| system(it, now, spinner, longest, width)).collect();
        let PoolTotal { done, all, jobs, began, used } = &self.total;
        let parts = [
            Part::new(0, Ink::Plain, format!("{done} of {all} complete")).or(format!("{done}/{all}")),
            Part::new(2, Ink::Dim, format!("{jobs} at once")),
            Part::new(1, Ink::Dim, used.clone()),
            Part::new(1, Ink::Dim, passed(*began, now)),
        ];
        let parts: Vec<Part> = parts.into_iter().filter(|it| !it.is_empty()).collect();
        let mut last = PaintedLine::default();
        last.push(Ink::Plain, "   ");
        last.extend(fit(&parts, width.saturating_sub(3)));
        lines.push(last.cut(width));
        lines
    }

    fn pending(&self, _now: Timestamp, _width: usize) -> Option<PaintedLine> {
        None
    }
}

fn system(it: &PoolSystemNow, now: Timestamp, spinner: &str, longest: usize, width: usize) -> PaintedLine {
    let (mark, ink) = match it.status {
        Status::Waiting => ("?", Ink::Bold),
        Status::Halted | Status::Capped => ("!", Ink::Bad),
        Status::Ready | Status::Running if it.is_driven => (spinner, Ink::Good),
        Status::Ready | Status::Running | Status::Paused | Status::Stopped => ("-", Ink::Dim),
        Status::Completed | Status::Cancelled => (" ", Ink::Dim),
    };
    let mut line = PaintedLine::default();
    // The cursor rests on the first cell, which therefore says nothing.
    line.push(Ink::Plain, " ");
    line.push(ink, format!("{mark} "));
    line.push(Ink::Bold, format!("{:<longest$}  ", sanitise(&it.id)));
    let since = passed(it.since, now);
    let room = width.saturating_sub(line.width());
    let doing: String = sanitise(&it.doing).split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = [Part::new(0, Ink::Plain, doing), Part::new(1, Ink::Dim, since)];
    line.extend(fit(&parts, room));
    line.cut(width)
}

fn passed(since: Timestamp, now: Timestamp) -> String {
    length(u64::try_from(now.0 - since.0).unwrap_or(0) / 1000 * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> PoolView {
        let system = |id: &str, status, doing: &str, since| PoolSystemNow {
            id: id.to_owned(),
            status,
            is_driven: true,
            doing: doing.to_owned(),
            since: Timestamp(since),
        };
        PoolView {
            systems: vec![
                system("sys-001", Status::Running, "IMPLEMENT, iteration 3", 5_000),
                system("sys-002", Status::Waiting, "REVIEW: Ship it? Everything passes, 14 files changed", 0),
                system("sys-010", Status::Halted, "TEST failed: the same failure 3 times: it adds", 0),
            ],
            total: PoolTotal { done: 2, all: 6, jobs: 3, began: Timestamp(0), used: "$0.40".to_owned() },
        }
    }

    fn drawn(width: usize) -> String {
        let lines = view().lines(Timestamp(65_000), "*", width);
        assert!(lines.iter().all(|it| it.width() <= width));
        lines.iter().map(|it| format!("{}\n", it.painted(false).trim_end())).collect()
    }

    #[test]
    fn a_line_for_each_system_and_one_for_all() {
        insta::assert_snapshot!(drawn(79), @r"
         * sys-001  IMPLEMENT, iteration 3 · 1m 00s
         ? sys-002  REVIEW: Ship it? Everything passes, 14 files changed · 1m 05s
         ! sys-010  TEST failed: the same failure 3 times: it adds · 1m 05s
           2 of 6 complete · 3 at once · $0.40 · 1m 05s
        ");
    }

    #[test]
    fn a_narrow_terminal_loses_the_least_important() {
        insta::assert_snapshot!(drawn(39), @r"
         * sys-001  IMPLEMENT, iteration 3
         ? sys-002  REVIEW: Ship it? Everythin…
         ! sys-010  TEST failed: the same fail…
           2/6 · 3 at once · $0.40 · 1m 05s
        ");
    }
}
