//! What the controller asks of its shim and what comes back: the wire types of the two pipes between
//! them, one JSON object a line. Arguments, environment and paths are bytes on Linux and stay so.

use crate::process::proc_stat::{Stat, boot_id};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A line to the shim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    Order(Box<Order>),
    Interrupt(Force),
}

/// A line from the shim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The shim is known by name on disk and takes orders.
    Hello,
    /// A few mebibytes more are in the output file of the call under way. Whoever reads along does so
    /// while they are in memory, and a call that says little costs no word.
    Grown,
    Ended(OrderEnd),
}

/// One process to start, watch and clean up after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The name of its files in the run's folder, without the ending: `call-12`.
    pub stem: String,
    pub kind: OrderKind,
    #[serde(with = "bytes::list")]
    pub argv: Vec<OsString>,
    #[serde(with = "bytes::path")]
    pub cwd: PathBuf,
    /// The complete environment; nothing is inherited.
    #[serde(with = "bytes::pairs")]
    pub env: Vec<(OsString, OsString)>,
    /// What the process reads on its standard input before end of file.
    pub stdin: String,
    pub bounds: Bounds,
}

impl Order {
    /// Returns where the standard output goes; for a check, all output.
    pub(crate) fn out_path(&self, run_dir: &Path) -> PathBuf {
        match self.kind {
            OrderKind::Call => run_dir.join(format!("{}.out", self.stem)),
            OrderKind::Check => run_dir.join(format!("{}.log", self.stem)),
        }
    }

    /// Returns where the standard error of a call goes.
    pub(crate) fn err_path(&self, run_dir: &Path) -> PathBuf {
        run_dir.join(format!("{}.err", self.stem))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderKind {
    /// An agent call: paid for, so it may start only once and outlives its controller.
    Call,
    /// A command of ours that can be repeated: it ends with its controller.
    Check,
}

/// How long and how much. A limit of `u64::MAX` is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// From the start to the first byte of output.
    pub first_ms: u64,
    /// Without output, while no process of the call uses the processor.
    pub idle_ms: u64,
    pub total_ms: u64,
    /// From the exit until the reading stops although somebody still holds the pipe.
    pub pipe_ms: u64,
    /// From SIGINT to SIGTERM.
    pub grace_ms: u64,
    /// Bytes of each output that are kept on disk, apart from the tail that `capture` adds.
    pub out_bytes: u64,
    /// Memory and processes of everything that it starts, where the machine lets us limit them.
    pub memory_bytes: u64,
    pub processes: u64,
}

/// How strongly a call is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Force {
    /// SIGINT and the whole grace: agents still write their result then.
    Soft,
    /// Skips what is left of the grace.
    Hard,
}

/// What became of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderEnd {
    pub how: EndReason,
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Bytes written by the process, kept or not.
    pub out_bytes: u64,
    pub err_bytes: u64,
    /// Some of them are not on disk.
    pub cut: bool,
    /// The exit left a pipe that did not end within its limit.
    pub pipe_held: bool,
    /// Processes that were alive when the call was over, and were ended.
    pub swept: u32,
    /// Processes that could not be ended.
    pub left: Vec<Survivor>,
    pub ms: u64,
    /// What went wrong with the files of this call, if anything did.
    pub trouble: Option<String>,
}

impl OrderEnd {
    /// Returns the ending of something that left neither exit nor output.
    pub fn without_exit(how: EndReason) -> OrderEnd {
        OrderEnd {
            how,
            code: None,
            signal: None,
            out_bytes: 0,
            err_bytes: 0,
            cut: false,
            pipe_held: false,
            swept: 0,
            left: Vec::new(),
            ms: 0,
            trouble: None,
        }
    }
}

/// Why a call is over. Exit code and signal stand beside it: an agent that is interrupted may well
/// exit with 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    Exited,
    NoFirstOutput,
    Idle,
    /// It fell silent like `Idle`, and this shows that it waited for a person.
    WaitedForInput(String),
    TimedOut,
    Interrupted,
    CouldNotStart(String),
    /// The right to start it had been taken before.
    NotStarted,
    /// It was started and nobody saw its end.
    Lost(String),
}

/// A process that could not be ended: pid, start time and boot name one process for ever. A pid alone is given
/// to others, and so is a name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Survivor {
    pub pid: i32,
    pub name: String,
    /// Clock ticks after boot; 0 in records of older programs.
    #[serde(default)]
    pub start: u64,
    #[serde(default)]
    pub boot: String,
}

impl PartialEq for Survivor {
    fn eq(&self, other: &Survivor) -> bool {
        (self.pid, self.start, &self.boot) == (other.pid, other.start, &other.boot)
    }
}

impl Survivor {
    /// A process as the kernel shows it now.
    pub fn of(stat: &Stat) -> Survivor {
        let boot = boot_id().unwrap_or_default();
        Survivor { pid: stat.pid, name: stat.name.clone(), start: stat.start, boot }
    }

    /// Whether exactly this process is alive.
    pub fn is_alive(&self) -> bool {
        let is_same = |it: &Stat| !it.is_dead() && Survivor::of(it) == *self;
        Stat::read(self.pid).ok().flatten().is_some_and(|it| is_same(&it))
    }
}

/// Text where it is text, an array of bytes where it is not, so that the lines stay readable.
mod bytes {
    use serde::{Deserialize, Serialize};
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    #[derive(Serialize)]
    #[serde(untagged)]
    enum TextOrBytes<'a> {
        Text(&'a str),
        Bytes(&'a [u8]),
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Read {
        Text(String),
        Bytes(Vec<u8>),
    }

    fn write(it: &OsStr) -> TextOrBytes<'_> {
        it.to_str().map_or_else(|| TextOrBytes::Bytes(it.as_bytes()), TextOrBytes::Text)
    }

    fn read(it: Read) -> OsString {
        match it {
            Read::Text(text) => text.into(),
            Read::Bytes(bytes) => OsString::from_vec(bytes),
        }
    }

    pub(crate) mod path {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};
        use std::path::{Path, PathBuf};

        pub(in super::super) fn serialize<S: Serializer>(it: &Path, to: S) -> Result<S::Ok, S::Error> {
            super::write(it.as_os_str()).serialize(to)
        }

        pub(in super::super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<PathBuf, D::Error> {
            Ok(super::read(super::Read::deserialize(from)?).into())
        }
    }

    pub(crate) mod list {
        use serde::{Deserialize, Deserializer, Serializer};
        use std::ffi::OsString;

        pub(in super::super) fn serialize<S: Serializer>(it: &[OsString], to: S) -> Result<S::Ok, S::Error> {
            to.collect_seq(it.iter().map(|it| super::write(it)))
        }

        pub(in super::super) fn deserialize<'a, D: Deserializer<'a>>(
            from: D,
        ) -> Result<Vec<OsString>, D::Error> {
            Ok(Vec::deserialize(from)?.into_iter().map(super::read).collect())
        }
    }

    pub(crate) mod pairs {
        use serde::{Deserialize, Deserializer, Serializer};
        use std::ffi::OsString;

        type OsPairs = Vec<(OsString, OsString)>;

        pub(in super::super) fn serialize<S: Serializer>(
            it: &[(OsString, OsString)],
            to: S,
        ) -> Result<S::Ok, S::Error> {
            to.collect_seq(it.iter().map(|(name, value)| (super::write(name), super::write(value))))
        }

        pub(in super::super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<OsPairs, D::Error> {
            let pairs: Vec<(super::Read, super::Read)> = Vec::deserialize(from)?;
            Ok(pairs.into_iter().map(|(name, value)| (super::read(name), super::read(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Force, Order, OrderKind, Request};
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn bytes_that_are_no_text_survive() {
        let odd = OsString::from_vec(vec![b'/', 0xff, b'"', b'\n']);
        let order = Order {
            stem: "call-1".to_owned(),
            kind: OrderKind::Call,
            argv: vec!["claude".into(), odd.clone()],
            cwd: odd.clone().into(),
            env: vec![("PATH".into(), odd)],
            stdin: "two\nlines".to_owned(),
            bounds: Bounds {
                first_ms: 1,
                idle_ms: 2,
                total_ms: u64::MAX,
                pipe_ms: 4,
                grace_ms: 5,
                out_bytes: 6,
                memory_bytes: u64::MAX,
                processes: u64::MAX,
            },
        };
        let request = Request::Order(Box::new(order));
        let line = serde_json::to_string(&request).expect("written");
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(serde_json::from_str::<Request>(&line).expect("read"), request);
    }

    #[test]
    fn an_interrupt_is_short() {
        let line = serde_json::to_string(&Request::Interrupt(Force::Soft)).expect("written");
        assert_eq!(line, r#"{"interrupt":"soft"}"#);
    }
}
