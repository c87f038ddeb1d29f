//! What reaches a run from outside of the loop. Everything else in a journal comes of a decision or an effect, and
//! because this type cannot hold it, nobody can hand it in.

use super::closing::landing::Landing;
use super::event::Event;
use super::hold::Hold;
use super::people::command::Command;
use super::task::opening::Session;
use loop_base::time::Timestamp;

#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// The first events of a run: how it was opened, and the past of one that another controller began.
    Opening(Vec<(Timestamp, Event)>),
    Joined(Session),
    /// What a person asked for in a file of the run.
    Commanded(Command),
    Held(Hold),
    Reloaded {
        keys: Vec<String>,
        definition: Option<String>,
    },
    /// A command for a check was found in the project.
    Detected {
        check: String,
        command: String,
    },
    Landed(Landing),
    Noted(String),
}

impl News {
    /// Returns the events to record. A run is opened once: what would open it again is left out, which is noted.
    pub fn events(self, at: Timestamp, is_opened: bool) -> Vec<(Timestamp, Event)> {
        let event = match self {
            News::Opening(events) if !is_opened => return events,
            News::Opening(_) => {
                Event::Noted { text: "the run is open already; the second opening was ignored".to_owned() }
            }
            News::Joined(session) => Event::Joined(session),
            News::Commanded(command) => Event::Commanded(command),
            News::Held(hold) => Event::Held(hold),
            News::Reloaded { keys, definition } => Event::Reloaded { keys, definition },
            News::Detected { check, command } => Event::Detected { check, command },
            News::Landed(landing) => Event::Landed(landing),
            News::Noted(text) => Event::Noted { text },
        };
        vec![(at, event)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_opened_once() {
        let noted = |text: &str| (Timestamp(7), Event::Noted { text: text.to_owned() });
        let past = vec![noted("a"), (Timestamp(8), Event::Woke)];
        assert_eq!(News::Opening(past.clone()).events(Timestamp(9), false), past);
        let again = News::Opening(past).events(Timestamp(7), true);
        assert_eq!(again, [noted("the run is open already; the second opening was ignored")]);
    }
}
