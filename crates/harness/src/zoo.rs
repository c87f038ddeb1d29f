//! A cage for the misbehaving programs of `zoo.c`: a run's folder, a folder to work in, and the real
//! binary as shim. The controller's half of the shim is the crate that the program uses.

pub use loop_supervise::shim::resources as shim_resources;
pub use loop_supervise::{
    cgroup, claim, contain, exit_records, find_by_mark, identity, keeper, previous_call, proc_stat, protocol,
    tail, temp_dir,
};

pub use keeper::Keeper;
pub use previous_call::{PreviousCall, find};
pub use protocol::{Bounds, EndReason, Force, Order, OrderEnd, OrderKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Generous where a test is about something else: the machine may be busy.
pub const BOUNDS: Bounds = Bounds {
    first_ms: 20_000,
    idle_ms: 20_000,
    total_ms: 30_000,
    pipe_ms: 2_000,
    grace_ms: 10_000,
    out_bytes: 8 * 1024 * 1024,
    memory_bytes: u64::MAX,
    processes: u64::MAX,
};

pub const SAID_READY: OrderEnd = OrderEnd {
    how: EndReason::Exited,
    code: Some(3),
    signal: None,
    out_bytes: 6,
    err_bytes: 0,
    cut: false,
    pipe_held: false,
    swept: 0,
    left: Vec::new(),
    ms: 0,
    trouble: None,
};

/// A run's folder, a folder to work in, and a shim.
pub struct Zoo {
    pub run: tempfile::TempDir,
    pub cage: tempfile::TempDir,
    pub keeper: Keeper,
}

impl Zoo {
    pub fn open() -> Zoo {
        let run = tempfile::tempdir().expect("a folder");
        let cage = tempfile::tempdir().expect("a folder");
        let mut keeper = Keeper::start(&shim_program(), run.path(), 1).expect("a shim");
        keeper.greet().expect("a shim that works");
        Zoo { run, cage, keeper }
    }

    pub fn order(&self, words: &[&str]) -> Order {
        order(self.cage.path(), "call-1", words)
    }

    pub fn send(&mut self, words: &[&str]) {
        let order = self.order(words);
        self.keeper.send(order).expect("sent");
    }

    pub fn answer(&mut self) -> OrderEnd {
        wait(&mut self.keeper).expect("an answer")
    }

    pub fn run(&mut self, order: Order) -> OrderEnd {
        self.keeper.send(order).expect("sent");
        self.answer()
    }

    /// Runs one word and checks that nothing of it is alive.
    pub fn watch(&mut self, words: &[&str], bounds: Bounds) -> OrderEnd {
        let order = Order { bounds, ..self.order(words) };
        let ending = self.run(order);
        assert_eq!(survivors(self.cage.path()), Vec::<i32>::new(), "{words:?} left something");
        assert_eq!(self.below_shim(), Vec::<i32>::new(), "{words:?} left something");
        ending
    }

    /// Everybody whom the kernel counts as the shim's: its descendants, and its control group.
    pub fn below_shim(&self) -> Vec<i32> {
        let shim = self.shim();
        let all = proc_stat::Stat::all();
        let below = proc_stat::descendants(&all, shim.pid).into_iter().map(|it| it.pid);
        let group =
            shim.belongings.cgroup.map(|it| fs::read_to_string(it.join("cgroup.procs")).expect("a group"));
        let members = group.iter().flat_map(|it| it.lines()).map(|it| it.parse().expect("a pid"));
        below.chain(members).filter(|it| *it != shim.pid).collect()
    }

    pub fn shim(&self) -> identity::Identity {
        identity::Identity::read(self.run.path(), 1).expect("readable").expect("a shim")
    }

    pub fn scratch(&self) -> Option<PathBuf> {
        self.shim().belongings.scratch.map(|it| it.path().to_owned())
    }

    pub fn output(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.run.path().join("call-1.out")).expect("an output"))
            .into_owned()
    }

    pub fn shim_status(&self, field: &str) -> u64 {
        let line = self.shim_field(field);
        line.split(' ').next().expect("a value").parse().expect("a number")
    }

    pub fn shim_state(&self) -> String {
        self.shim_field("State")
    }

    fn shim_field(&self, field: &str) -> String {
        let shim = identity::Identity::read(self.run.path(), 1).expect("readable").expect("a shim");
        let status = fs::read_to_string(format!("/proc/{}/status", shim.pid)).expect("alive");
        let line = status.lines().find_map(|it| it.strip_prefix(field)).expect("a field");
        line.trim_matches([':', '\t', ' ']).to_owned()
    }
}

pub fn order(cage: &Path, stem: &str, words: &[&str]) -> Order {
    let argv = std::iter::once(zoo_in(cage).into()).chain(words.iter().map(|it| it.into()));
    Order {
        stem: stem.to_owned(),
        kind: OrderKind::Call,
        argv: argv.collect(),
        cwd: cage.to_owned(),
        env: vec![("ZOO_CAGE".into(), cage.into())],
        stdin: "do it\n".to_owned(),
        bounds: BOUNDS,
    }
}

pub fn wait(keeper: &mut Keeper) -> io::Result<OrderEnd> {
    loop {
        readable(keeper.as_fd(), None);
        if let Some(ending) = keeper.answer()? {
            return Ok(ending);
        }
    }
}

pub fn readable(fd: BorrowedFd<'_>, limit: Option<Duration>) -> bool {
    let limit = limit.map(|it| Timespec::try_from(it).expect("short"));
    matches!(poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], limit.as_ref()), Ok(1))
}

pub fn shim_program() -> PathBuf {
    PathBuf::from(crate::program())
}

pub fn zoo_program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let folder = crate::kept_folder();
        let unfinished = folder.join(format!("zoo-{}", std::process::id()));
        let source = crate::source_tree().join("tests/zoo.c");
        let built = Command::new("cc").arg("-O1").arg("-o").arg(&unfinished).arg(source).status();
        assert!(built.expect("the tests need a C compiler").success());
        fs::rename(&unfinished, folder.join("zoo")).expect("renamed");
        folder.join("zoo")
    };
    // A controller of the crash test finds the program built.
    PROGRAM.get_or_init(|| std::env::var_os("ZOO_PROGRAM").map_or_else(build, PathBuf::from)).clone()
}

/// The program under a name of this cage alone. The kernel tells what a process executes whatever it
/// does to its environment, folder, name, session and parents, so whoever flees is known by it, and
/// with it every port and file that it holds.
fn zoo_in(cage: &Path) -> PathBuf {
    let (program, own) = (zoo_program(), cage.join(".zoo"));
    match fs::hard_link(&program, &own) {
        Ok(()) => own,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => own,
        // The cage is on another disk, where a copy could be refused to run.
        Err(_) => program,
    }
}

/// Everybody who executes the cage's program, works in the cage, or carries its mark.
pub fn survivors(cage: &Path) -> Vec<i32> {
    let mark = format!("ZOO_CAGE={}", cage.display());
    let is_ours = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let leads_here =
            |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).is_ok_and(|it| it.starts_with(cage));
        leads_here("exe")
            || leads_here("cwd")
            || environment.split(|it| *it == 0).any(|it| it == mark.as_bytes())
    };
    let entries = fs::read_dir("/proc").expect("a process table").flatten();
    entries.filter_map(|it| it.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
}

/// What differs from run to run.
pub fn apart_from_counts(ending: OrderEnd) -> OrderEnd {
    OrderEnd { swept: 0, ms: 0, ..ending }
}

/// Waits for the first byte without a pause: the file is watched by nobody else.
pub fn until_output(path: &Path) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while fs::metadata(path).map_or(0, |it| it.len()) == 0 {
        assert!(Instant::now() < deadline, "no output");
        std::thread::yield_now();
    }
}
