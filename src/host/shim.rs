//! The detached half of a run: a second process of this program, in its own session, that starts the
//! run's calls one after another and sees each of them through. It takes orders on its standard input
//! and answers on its standard output. When its controller dies it finishes the call under way under
//! the same limits, makes output and exit record durable, and goes. It decides nothing about the run.

use super::call::{Finished, Post, run};
use super::contain;
use super::identity::Identity;
use super::interrupt::Interrupts;
use super::ledger::Ledger;
use super::order::{How, Kind, Order, Reply};
use super::request::Requests;
use crate::secret::redact;
use rustix::process::setsid;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

/// Serves as the shim of this run until there is no controller.
pub(crate) fn serve(run_dir: &Path, epoch: u64) -> ExitCode {
    complain_to(run_dir);
    match try_serve(run_dir, epoch) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(run_dir, &format!("the shim cannot work: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn try_serve(run_dir: &Path, epoch: u64) -> io::Result<()> {
    setsid()?;
    contain::become_subreaper()?;
    let requests = Requests::new(io::stdin().as_fd().try_clone_to_owned()?);
    let mut post = Post::new(run_dir.to_owned(), requests, Interrupts::listen()?);
    let mut ledger = Ledger::open(run_dir)?;
    Identity::mine()?.write(run_dir, epoch)?;
    // Nobody hears it if the controller is dead already; the end of its orders will say so.
    let _ = answer(&Reply::Hello);
    while let Some(order) = post.requests.next_order() {
        post.interrupts.forget();
        carry_out(&mut post, &mut ledger, order);
    }
    Ok(())
}

fn carry_out(post: &mut Post, ledger: &mut Ledger, order: Order) {
    let (stem, kind) = (order.stem.clone(), order.kind);
    let Finished { mut ending, outputs } = run(post, order);
    // A call that never began belongs to whoever has its claim, and so does its record.
    if kind == Kind::Call
        && ending.how != How::NotStarted
        && let Err(error) = ledger.append(&stem, &ending)
    {
        ending.trouble.get_or_insert_with(|| format!("the exit of {stem} is not on disk: {error}"));
    }
    post.requests.look();
    let is_heard = post.requests.is_open() && answer(&Reply::Ended(ending)).is_ok();
    // With a controller the journal makes the outcome durable; without one nobody else will.
    if !is_heard && kind == Kind::Call {
        let synced = outputs.iter().map(|it| it.sync()).chain([ledger.sync(), sync_folder(&post.run_dir)]);
        for error in synced.filter_map(Result::err) {
            note(&post.run_dir, &format!("{stem} may not survive a power cut: {error}"));
        }
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
    let file = OpenOptions::new().create(true).append(true).open(run_dir.join("shim.log"));
    let _ = file.and_then(|mut it| it.write_all(format!("{}\n", redact(text)).as_bytes()));
}
