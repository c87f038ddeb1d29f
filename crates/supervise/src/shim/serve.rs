//! The detached half of a run: a second process of this program, in its own session, that starts the
//! run's calls one after another and sees each of them through. It takes orders on its standard input
//! and answers on its standard output. When its controller dies it finishes the call under way under
//! the same limits, makes output and exit record durable, and goes. It decides nothing about the run.

use super::call::{Belonging, Finished, Post, run};
use super::input::Requests;
use super::resources::group_name;
use super::signals::Interrupts;
use super::spawn::Launcher;
use crate::contain::cgroup::Cgroup;
use crate::contain::identity::{Belongings, Identity};
use crate::contain::sweep as contain;
use crate::contain::temp_dir::Scratch;
use crate::process::rlimits;
use crate::records::exit_records::Ledger;
use crate::records::protocol::{EndReason, Order, OrderEnd, OrderKind, Reply};
use loop_base::files::ours;
use loop_base::secret::redact;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::setsid;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Serves as the shim of this run until there is no controller.
pub fn serve(run_dir: &Path, epoch: u64, launcher: Launcher) -> ExitCode {
    complain_to(run_dir);
    match try_serve(run_dir, epoch, launcher) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(run_dir, &format!("the shim cannot work: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn try_serve(run_dir: &Path, epoch: u64, launcher: Launcher) -> io::Result<()> {
    setsid()?;
    rlimits::no_core_dumps();
    contain::become_subreaper()?;
    let requests = Requests::new(io::stdin().as_fd().try_clone_to_owned()?);
    // Reached through a handle, the folder stays ours when somebody moves it.
    let folder = File::open(run_dir)?;
    let held = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    let mut ledger = Ledger::open(&held)?;
    let mut belongings = Belongings::default();
    let scratch = Scratch::make();
    let cgroup = Cgroup::join(&group_name(run_dir, epoch));
    belongings
        .without
        .extend(scratch.as_ref().err().map(|it| format!("no folder for temporary files: {it}")));
    belongings.without.extend(cgroup.as_ref().err().cloned());
    let (scratch, cgroup) = (scratch.ok(), cgroup.ok());
    belongings.scratch = scratch.clone();
    belongings.cgroup = cgroup.as_ref().map(|it| it.path().to_owned());
    let mut identity = Identity { belongings, ..Identity::mine()? };
    if let Err(error) = identity.write(&held, epoch) {
        // What nobody can find by name has to go at once.
        give_back(&held, Belonging::new(scratch, cgroup));
        return Err(error);
    }
    let has = Belonging::new(scratch, cgroup);
    let mut post = Post::new(held, requests, Interrupts::listen()?, has, launcher, tell_of_growth);
    // Nobody hears it if the controller is dead already; the end of its orders will say so.
    let _ = answer(&Reply::Hello);
    while let Some(order) = post.requests.next_order() {
        post.interrupts.forget();
        // A call can remove the folder for its temporary files; the next one gets another, which is
        // known on disk before it is used.
        post.has.renew();
        if post.has.scratch != identity.belongings.scratch {
            identity.belongings.scratch = post.has.scratch.clone();
            if let Err(error) = identity.write(&post.run_dir, epoch) {
                note(&post.run_dir, &format!("a call goes without a folder for temporary files: {error}"));
                let _nobody_would_find_it = post.has.scratch.take().map(|it| it.remove());
            }
        }
        carry_out(&mut post, &mut ledger, order);
    }
    give_back(&post.run_dir, post.has);
    Ok(())
}

fn give_back(run_dir: &Path, has: Belonging) {
    if let Some(Err(error)) = has.scratch.map(|it| it.remove()) {
        note(run_dir, &format!("temporary files remain: {error}"));
    }
    if let Some(cgroup) = has.cgroup {
        cgroup.leave();
    }
}

fn carry_out(post: &mut Post, ledger: &mut Ledger, order: Order) {
    let (stem, kind) = (order.stem.clone(), order.kind);
    let Finished { mut ending, outputs } = match ledger.reserve() {
        Err(error) if kind == OrderKind::Call => {
            let how = EndReason::CouldNotStart(format!("there is no space to record how it ends: {error}"));
            Finished { ending: OrderEnd::without_exit(how), outputs: Vec::new() }
        }
        Ok(()) | Err(_) => run(post, ledger, order),
    };
    // A call that never began belongs to whoever has its claim, and so does its record.
    if kind == OrderKind::Call
        && ending.how != EndReason::NotStarted
        && let Err(error) = ledger.append(&stem, &ending)
    {
        ending.trouble.get_or_insert_with(|| format!("the exit of {stem} is not on disk: {error}"));
    }
    post.requests.look();
    let is_heard = post.requests.is_open() && answer(&Reply::Ended(ending)).is_ok();
    // With a controller the journal makes the outcome durable; without one nobody else will.
    if !is_heard && kind == OrderKind::Call {
        let synced = outputs.iter().map(|it| it.sync()).chain([ledger.sync(), sync_folder(&post.run_dir)]);
        for error in synced.filter_map(Result::err) {
            note(&post.run_dir, &format!("{stem} may not survive a power cut: {error}"));
        }
    }
}

/// A controller that is stopped reads nothing, and its call must not wait for it.
fn tell_of_growth() {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    if matches!(poll(&mut [PollFd::new(&io::stdout(), PollFlags::OUT)], Some(&at_once)), Ok(1)) {
        // Nobody hears it if the controller is dead; the end of its orders will say so.
        let _ = answer(&Reply::Grown);
    }
}

/// Not `println!`, which panics when nobody reads.
fn answer(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}

fn sync_folder(run_dir: &Path) -> io::Result<()> {
    File::open(run_dir)?.sync_all()
}

/// The shim has no terminal, so what would be printed goes to `shim.log`, which exists only then.
fn complain_to(run_dir: &Path) {
    let run_dir = run_dir.to_owned();
    std::panic::set_hook(Box::new(move |panic| note(&run_dir, &panic.to_string())));
}

fn note(run_dir: &Path, text: &str) {
    // There is nobody left to tell that even this failed.
    let file = ours().create(true).append(true).open(run_dir.join("shim.log"));
    let _ = file.and_then(|mut it| it.write_all(format!("{}\n", redact(text)).as_bytes()));
}
