//! One order from start to end: claim, start, watch, end, clean up. It waits for whatever comes first
//! (output, exit, a word from the controller, a signal, a deadline) in one `poll` and in nothing
//! else. The policy is elsewhere: what is due in `deadlines`, what is sent in `kill_ladder`.

use super::capture::Capture;
use super::deadlines::{Deadlines, Due};
use super::input::Requests;
use super::signals::Interrupts;
use super::spawn::{Launcher, PIPE_BYTES, Program};
use crate::contain::cgroup::Cgroup;
use crate::contain::kill_ladder::{KillStep, Ladder};
use crate::contain::sweep::{Swept, load, reap, sweep_all};
use crate::contain::temp_dir::Scratch;
use crate::process::proc_stat::Stat;
use crate::process::waits_for_input;
use crate::records::claim;
use crate::records::exit_records::Ledger;
use crate::records::protocol::{EndReason, Force, Order, OrderEnd, OrderKind, Survivor};
use crate::records::unstarted;
use loop_base::files::{self, ours};
use loop_base::secret;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use rustix::process::{Signal, WaitStatus, kill_process, kill_process_group};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How much output the controller gets at a time: little enough to be read while it is in the
/// processor's cache, and so much that the telling costs nothing.
const STRIDE: u64 = 4 << 20;

/// What a call needs around it, kept from one to the next.
pub(crate) struct Post {
    pub run_dir: PathBuf,
    pub requests: Requests,
    pub interrupts: Interrupts,
    pub has: Belonging,
    launcher: Launcher,
    /// Tells the controller that there is much to read.
    tell: fn(),
    buffer: Vec<u8>,
}

/// What the shim could get for its calls.
pub(crate) struct Belonging {
    pub scratch: Option<Scratch>,
    pub cgroup: Option<Cgroup>,
    /// What was not as it should be before the next call.
    trouble: Option<String>,
}

impl Post {
    pub(crate) fn new(
        run_dir: PathBuf,
        requests: Requests,
        interrupts: Interrupts,
        has: Belonging,
        launcher: Launcher,
        tell: fn(),
    ) -> Post {
        Post { run_dir, requests, interrupts, has, tell, launcher, buffer: vec![0; PIPE_BYTES] }
    }
}

/// A call that is over, with its files still open.
pub(crate) struct Finished {
    pub ending: OrderEnd,
    pub outputs: Vec<Capture>,
}

/// Carries out one order.
pub(crate) fn run(post: &mut Post, ledger: &mut Ledger, mut order: Order) -> Finished {
    let started = Instant::now();
    // What the program is given it may print.
    let given = order
        .env
        .iter()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.as_bytes().to_vec()));
    secret::learn(given);
    if order.kind == OrderKind::Check {
        order.argv.iter().for_each(|it| secret::learn_command(&it.to_string_lossy()));
    }
    let over = |how| Finished { ending: OrderEnd::without_exit(how), outputs: Vec::new() };
    let out = match open_output(post, &order) {
        Ok(Some(out)) => out,
        Ok(None) => return over(EndReason::NotStarted),
        Err(error) => {
            let path = order.out_path(&post.run_dir);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            return over(EndReason::CouldNotStart(format!("{name} cannot be made: {error}")));
        }
    };
    if order.kind == OrderKind::Call {
        // The claim itself is there; this is for an agent that removes it.
        let _a_second_witness = ledger.claim(&order.stem);
        if let Err(error) = unstarted::revoke(&post.run_dir) {
            let why = format!("the proof that it was not started cannot be removed: {error}");
            return over(EndReason::CouldNotStart(why));
        }
    }
    let err = Capture::on_demand(order.err_path(&post.run_dir), order.bounds.out_bytes);
    let mut troubles = post.has.prepare(&order);
    let program = match post.launcher.start(&order, post.has.scratch.as_ref().map(Scratch::path)) {
        Ok(program) => program,
        Err(reason) => return over(EndReason::CouldNotStart(reason)),
    };
    // The program has its own copy of the prompt.
    order.stdin = String::new();
    let mut call = RunningCall {
        kind: order.kind,
        program,
        outputs: [out, err],
        deadlines: Deadlines::new(&order.bounds, started),
        ladder: Ladder::new(order.bounds.grace_ms),
        told_bytes: 0,
        how: EndReason::Exited,
    };
    let status = call.watch(post);
    let swept = post.has.end(sweep_all());
    // Whoever held a pipe has just been ended, so this waits only for holders that are none of ours.
    let pipe_held = call.drain(&mut post.buffer, order.bounds.pipe_ms);
    let (out_cut, out_trouble) = call.outputs[0].finish();
    let (err_cut, err_trouble) = call.outputs[1].finish();
    troubles.extend([out_trouble, err_trouble, post.has.tidy()].into_iter().flatten());
    let ending = OrderEnd {
        how: call.how,
        code: status.and_then(WaitStatus::exit_status),
        signal: status.and_then(WaitStatus::terminating_signal),
        out_bytes: call.outputs[0].total(),
        err_bytes: call.outputs[1].total(),
        cut: out_cut || err_cut,
        pipe_held,
        swept: swept.ended,
        left: swept.left,
        ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        trouble: (!troubles.is_empty()).then(|| troubles.join("; ")),
    };
    Finished { ending, outputs: call.outputs.into() }
}

impl Belonging {
    pub(crate) fn new(scratch: Option<Scratch>, cgroup: Option<Cgroup>) -> Belonging {
        Belonging { scratch, cgroup, trouble: None }
    }

    /// Makes sure that the next call finds an empty folder.
    pub(crate) fn renew(&mut self) {
        let error = self.scratch.as_mut().and_then(|it| it.renew().err());
        self.trouble = error.map(|it| format!("the folder for temporary files is not empty: {it}"));
    }

    /// Sets the limits of the next call; returns what it has to do without.
    fn prepare(&mut self, order: &Order) -> Vec<String> {
        let wants = order.bounds.memory_bytes != u64::MAX;
        let limits = match &mut self.cgroup {
            Some(cgroup) => cgroup.limit(&order.bounds),
            None => wants.then(|| "memory is not limited: there is no control group of our own".to_owned()),
        };
        self.trouble.take().into_iter().chain(limits).collect()
    }

    /// The last step of the ladder: whatever is in the group although its parents were ended.
    fn end(&self, mut swept: Swept) -> Swept {
        if let Some(cgroup) = &self.cgroup {
            let (ended, left) = cgroup.end_others();
            swept.ended += ended;
            swept.left = still_there(swept.left, left);
            reap(&mut |_, _| {});
        }
        swept
    }

    /// Removes the temporary files of a call that is over.
    fn tidy(&self) -> Option<String> {
        let error = self.scratch.as_ref()?.empty().err()?;
        Some(format!("temporary files remain: {error}"))
    }
}

/// Joins those whom the sweep could not end with those whom the group still holds. One that left the
/// group is not in its list and stays in ours while it lives.
fn still_there(mut swept: Vec<Survivor>, group: Vec<Survivor>) -> Vec<Survivor> {
    swept.retain(|it| group.contains(it) || it.is_alive());
    let others: Vec<Survivor> = group.into_iter().filter(|it| !swept.contains(it)).collect();
    swept.extend(others);
    swept
}

/// For a call the file is the right to start it; a check may be repeated, and its last log counts.
fn open_output(post: &Post, order: &Order) -> io::Result<Option<Capture>> {
    let path = order.out_path(&post.run_dir);
    let file = match order.kind {
        OrderKind::Call => claim::take(&path)?,
        // What an agent put there goes: a pipe or a folder would keep the check from running.
        OrderKind::Check => {
            files::remove_any(&path)?;
            Some(ours().create_new(true).write(true).open(&path)?)
        }
    };
    Ok(file.map(|file| Capture::into_file(path, file, order.bounds.out_bytes)))
}

/// A call under way.
struct RunningCall {
    kind: OrderKind,
    program: Program,
    /// Standard output and standard error.
    outputs: [Capture; 2],
    deadlines: Deadlines,
    ladder: Ladder,
    /// How much output the controller knows of.
    told_bytes: u64,
    how: EndReason,
}

impl RunningCall {
    /// Watches until the program has exited, or cannot be made to.
    fn watch(&mut self, post: &mut Post) -> Option<WaitStatus> {
        loop {
            let mut status = None;
            // Orphans of the call that end meanwhile are collected on the way.
            reap(&mut |pid, it| {
                if pid == self.program.pid {
                    status = Some(it);
                }
            });
            if status.is_some() {
                return status;
            }
            if self.keep_time(Instant::now(), post.requests.is_open()) == Some(KillStep::GivenUp) {
                return None;
            }
            let ready = self.wait(post);
            for which in [0, 1] {
                if ready.pipes[which] && self.pump(which, &mut post.buffer) {
                    self.deadlines.heard(Instant::now());
                }
            }
            if post.requests.is_open() && self.told_bytes + STRIDE <= self.outputs[0].total() {
                self.told_bytes = self.outputs[0].total();
                (post.tell)();
            }
            if ready.requests {
                post.requests.read();
            }
            while let Some(force) = post.requests.interrupt() {
                self.interrupt(force);
            }
            if ready.signals
                && let Some(force) = post.interrupts.take()
            {
                self.interrupt(force);
            }
        }
    }

    /// Does what is due; returns the step down that was taken, if one was.
    fn keep_time(&mut self, now: Instant, is_attached: bool) -> Option<KillStep> {
        let step = if !self.ladder.is_at_top() {
            self.ladder.descend(now)
        } else if self.kind == OrderKind::Check && !is_attached {
            // Nobody is left who wants to know, and the next controller measures again.
            self.how = EndReason::Interrupted;
            self.ladder.kill(now)
        } else {
            self.how = self.overdue(now)?;
            self.ladder.press(Force::Soft, now)
        };
        step.inspect(|it| self.send(*it))
    }

    fn overdue(&mut self, now: Instant) -> Option<EndReason> {
        match self.deadlines.due(now)? {
            Due::Over(EndReason::NoFirstOutput) => Some(self.silence(EndReason::NoFirstOutput)),
            Due::Over(how) => Some(how),
            Due::Silent => self.deadlines.looked(now, load()).then(|| self.silence(EndReason::Idle)),
        }
    }

    /// A silence that is over gets the name of what it was.
    fn silence(&self, how: EndReason) -> EndReason {
        waits_for_input::evidence(self.outputs.each_ref().map(Capture::last))
            .map_or(how, EndReason::WaitedForInput)
    }

    fn interrupt(&mut self, force: Force) {
        if self.ladder.is_at_top() {
            self.how = EndReason::Interrupted;
        }
        if let Some(step) = self.ladder.press(force, Instant::now()) {
            self.send(step);
        }
    }

    /// Signals the program's group. The program is our child and not yet collected, so neither its
    /// pid nor the group that it was started to lead can be anybody else's.
    fn send(&self, step: KillStep) {
        let Some(signal) = step.signal() else { return };
        let pid = self.program.pid;
        // It may have emptied its group by leaving it; the errors say no more than that.
        let _ = kill_process_group(pid, signal);
        // Twice the same signal would be a second wish, so the program gets its own only if it left.
        if signal == Signal::KILL || !self.leads_its_group() {
            let _ = kill_process(pid, signal);
        }
        // The stopped hear nothing until they continue.
        let _ = kill_process_group(pid, Signal::CONT);
    }

    fn leads_its_group(&self) -> bool {
        let pid = self.program.pid.as_raw_nonzero().get();
        matches!(Stat::read(pid), Ok(Some(stat)) if stat.group == pid)
    }

    /// Waits for whatever comes first.
    fn wait(&self, post: &Post) -> Ready {
        let [soft, hard] = post.interrupts.fds();
        let until = if self.ladder.is_at_top() { self.deadlines.next() } else { self.ladder.next() };
        let requests = post.requests.is_open().then(|| post.requests.fd());
        let pipes = self.program.pipes.each_ref().map(|it| it.as_ref().map(AsFd::as_fd));
        let fds = [Some(self.program.pidfd.as_fd()), Some(soft), Some(hard), requests, pipes[0], pipes[1]];
        let [_, soft, hard, requests, out, err] = poll_until(fds, until);
        Ready { pipes: [out, err], requests, signals: soft || hard }
    }

    /// Reads what is left in the pipes; returns whether somebody held one beyond its limit.
    fn drain(&mut self, buffer: &mut [u8], limit_ms: u64) -> bool {
        let deadline = Instant::now().checked_add(Duration::from_millis(limit_ms));
        loop {
            let pipes = self.program.pipes.each_ref().map(|it| it.as_ref().map(AsFd::as_fd));
            if pipes.iter().all(Option::is_none) {
                return false;
            }
            let ready = poll_until(pipes, deadline);
            for which in [0, 1] {
                if ready[which] {
                    self.pump(which, buffer);
                }
            }
            if deadline.is_some_and(|it| it <= Instant::now()) {
                return self.program.pipes.iter().any(Option::is_some);
            }
        }
    }

    /// Moves what one read gives from a pipe that is ready to its file, and returns whether there was
    /// anything. One read at a time keeps a flood from holding up deadlines and interrupts.
    fn pump(&mut self, which: usize, buffer: &mut [u8]) -> bool {
        let Some(pipe) = &self.program.pipes[which] else { return false };
        match rustix::io::read(pipe, &mut *buffer) {
            Ok(count) if count > 0 => {
                self.outputs[which].take(&buffer[..count]);
                true
            }
            Err(Errno::INTR | Errno::AGAIN) => false,
            Ok(_) | Err(_) => {
                self.program.pipes[which] = None;
                false
            }
        }
    }
}

/// What a wait ended with.
struct Ready {
    pipes: [bool; 2],
    requests: bool,
    signals: bool,
}

/// Waits until one of these can be read, or has ended, or the time has come; returns which.
fn poll_until<const N: usize>(fds: [Option<BorrowedFd<'_>>; N], until: Option<Instant>) -> [bool; N] {
    let mut polled: Vec<PollFd<'_>> =
        fds.iter().flatten().map(|it| PollFd::from_borrowed_fd(*it, PollFlags::IN)).collect();
    let rest = until.map(|it| it.saturating_duration_since(Instant::now()));
    // A rest that does not fit is longer than this machine will live.
    let timeout = rest.and_then(|it| Timespec::try_from(it).ok());
    if poll(&mut polled, timeout.as_ref()).is_err() {
        // Interrupted by a signal: the callers look at their clocks and come back.
        return [false; N];
    }
    let mut ready = polled.iter().map(|it| !it.revents().is_empty());
    fds.map(|it| it.is_some() && ready.next().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::{Survivor, still_there};
    use crate::process::proc_stat::Stat;
    use std::process::{Command, Stdio};

    #[test]
    fn whoever_left_the_group_stays_in_the_list_while_it_lives() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat");
        let pid = i32::try_from(child.id()).expect("a pid");
        let left = |pid, name: &str| Survivor { pid, name: name.to_owned(), start: 7, boot: "x".to_owned() };
        let stat = Stat::read(pid).expect("/proc").expect("it lives");
        // It may have any name when it is looked at: a program that calls another one takes that one's name.
        let runaway = Survivor { name: "before".to_owned(), ..Survivor::of(&stat) };
        let in_group = left(i32::MAX, "held");
        let found = still_there(vec![runaway.clone(), left(i32::MAX - 1, "dead")], vec![in_group.clone()]);
        assert_eq!(found, [runaway.clone(), in_group]);
        let other = Survivor { start: stat.start + 1, ..Survivor::of(&stat) };
        assert_eq!(still_there(vec![other], Vec::new()), [], "another process got its pid and its name");
        let earlier = Survivor { boot: "another boot".to_owned(), ..runaway.clone() };
        assert_eq!(still_there(vec![earlier], Vec::new()), []);
        drop(child.stdin.take());
        child.wait().expect("collected");
        assert_eq!(still_there(vec![runaway], Vec::new()), []);
    }
}
