//! Waiting without polling: for an answer, a command from another process, a signal, or a moment,
//! whichever comes first.

pub(crate) use crate::clock::now;
use loop_base::time::Timestamp;
use loop_core::agents::Warning;
use loop_core::engine::Command;
use loop_store::{AccountHold, Home, PlanUse, Wake};
use loop_supervise::signals;
pub(crate) use loop_supervise::signals::Signals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::rc::Rc;
use std::time::Duration;

/// A clock may be set and a machine may sleep while we wait, so no wait trusts one sleep for longer.
const LONGEST_NAP: Duration = Duration::from_secs(30);

pub(crate) struct Listener {
    home: Rc<Home>,
    run: String,
    wake: Wake,
    pub(crate) signals: Signals,
    /// Whether a signal pauses the run, as a person's would.
    pub(crate) pauses: bool,
}

/// What a wait ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitResult {
    /// The descriptor that was waited for is ready.
    Answer,
    /// Somebody left a command.
    Command,
    /// Somebody wants the call to end; a repeated wish is an impatient one.
    Now { impatient: bool },
    /// Nothing yet; the moment may have come.
    Nothing,
}

impl Listener {
    /// Signals are listened to before the run is taken, by whoever calls this; a wish that comes in
    /// between is heard here.
    pub(crate) fn new(home: Rc<Home>, run: &str, signals: Signals) -> anyhow::Result<Listener> {
        let wake = Wake::listen(&home.folder(run))?;
        Ok(Listener { home, run: run.to_owned(), wake, signals, pauses: true })
    }

    pub(crate) fn shared_home(&self) -> Rc<Home> {
        Rc::clone(&self.home)
    }

    /// Waits until something happens, at most for a nap.
    pub(crate) fn listen(
        &mut self,
        answer: Option<BorrowedFd<'_>>,
        nap: Duration,
    ) -> anyhow::Result<WaitResult> {
        let answered = self.wait(answer, nap.min(LONGEST_NAP))?;
        if let Some(signal) = self.signals.take() {
            let impatient = 1 < self.signals.count;
            if !impatient && self.pauses {
                self.leave_pause(signals::reason(signal))?;
            }
            return Ok(WaitResult::Now { impatient });
        }
        let bytes = self.wake.drain();
        if bytes.contains(&loop_store::NOW) {
            return Ok(WaitResult::Now { impatient: false });
        }
        if !bytes.is_empty() {
            return Ok(WaitResult::Command);
        }
        Ok(if answered { WaitResult::Answer } else { WaitResult::Nothing })
    }

    fn wait(&self, answer: Option<BorrowedFd<'_>>, nap: Duration) -> anyhow::Result<bool> {
        let mut fds = vec![PollFd::new(&self.wake, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
        if let Some(answer) = answer {
            fds.push(PollFd::from_borrowed_fd(answer, PollFlags::IN));
        }
        let timeout = Timespec::try_from(nap)?;
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(fds.get(2).is_some_and(|it| !it.revents().is_empty())),
            Err(error) => Err(error.into()),
        }
    }

    /// Tells all runs that use this account that its provider serves nobody before then.
    pub(crate) fn hold(&self, account: &str, until: Timestamp, reason: &str) {
        let hold = AccountHold {
            account: account.to_owned(),
            until: until.0,
            reason: reason.to_owned(),
            at: now().0,
        };
        // The run that found out waits all the same; the others find out for themselves.
        let _is_told = self.home.put_hold(&hold);
    }

    /// Notes how much of an account's plan is used up.
    pub(crate) fn warn(&self, account: &str, warned: &Warning) {
        let plan = PlanUse {
            account: account.to_owned(),
            warning: warned.text.clone(),
            until: warned.until.map(|it| it.0),
            at: now().0,
        };
        // It is for people only; the run itself says it too.
        let _is_noted = self.home.put_plan(&plan);
    }

    /// A signal is a command like any other: written down first, then obeyed.
    fn leave_pause(&self, reason: &str) -> anyhow::Result<()> {
        let command = Command::Pause { reason: reason.to_owned() };
        let body = serde_json::to_string(&command)?;
        self.home.command(&self.run, now().0, &body)?;
        Ok(())
    }
}
