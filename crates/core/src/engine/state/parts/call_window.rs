//! The calls of a window, counted.

use crate::workflow::model::Window;
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Calls in the current window. It is fixed, not sliding: it begins with its first call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    pub start: Timestamp,
    pub made: u32,
    /// A person allowed more until then.
    pub granted: Timestamp,
}

impl Calls {
    /// Returns the window as it is at `now`: a window that is over, or that seems to begin in the
    /// future because a clock was set back, is empty.
    pub fn at(self, window: &Window, now: Timestamp) -> Calls {
        let over = self.start.plus(window.every) <= now || now < self.start;
        if over { Calls { start: now, made: 0, granted: self.granted } } else { self }
    }

    pub(crate) fn count(&mut self, window: Option<&Window>, now: Timestamp) {
        if let Some(window) = window {
            *self = self.at(window, now);
        }
        self.made = self.made.saturating_add(1);
    }
}
