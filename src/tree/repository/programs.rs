//! Programs that git starts because a configuration names them. Whoever may write into a repository, or into the files
//! of the person's own configuration, may name one. [`PROGRAM_SETTINGS`] is the one list of such settings. What none of
//! our commands needs is switched off on every command line. Filter, diff and merge drivers have names of their
//! own, so they are listed before a command that looks at files: those of a repository are always switched off, those of
//! the person's configuration unless they were there when the run was opened ([`TrustedPrograms`]).

use super::git_text::bytes_to_path;
use loop_core::digest::sha256;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// What our commands do about a setting that names a program.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Treatment {
    /// No command of ours needs it: this value on every command line starts nothing.
    Off(&'static str),
    /// Only a command that talks to a remote may have it; the others get this value.
    RemoteOnly(&'static str),
    /// Read only by a command that talks to a remote, and named there.
    OfRemote,
    /// Part of a driver, which is switched off by its name.
    Driver,
    /// None of our commands reads it; the person's own git would.
    Unread,
}
use Treatment::{Driver, OfRemote, Off, RemoteOnly, Unread};

/// Section, key, and what we do about it. A subsection may stand between them.
const PROGRAM_SETTINGS: [(&str, &str, Treatment); 33] = [
    ("core", "alternaterefscommand", Off("true")),
    ("core", "askpass", RemoteOnly("false")),
    ("core", "editor", Off("false")),
    ("core", "fsmonitor", Off("false")),
    ("core", "gitproxy", RemoteOnly("")),
    ("core", "hookspath", Off("/dev/null")),
    ("core", "pager", Off("cat")),
    ("core", "sshcommand", RemoteOnly("false")),
    ("credential", "helper", RemoteOnly("")),
    ("diff", "command", Driver),
    ("diff", "external", Off("")),
    ("diff", "textconv", Driver),
    ("difftool", "cmd", Unread),
    ("filter", "clean", Driver),
    ("filter", "process", Driver),
    ("filter", "smudge", Driver),
    ("gpg", "defaultkeycommand", Unread),
    ("gpg", "program", Off("false")),
    ("hook", "command", Driver),
    ("init", "templatedir", Off("")),
    ("interactive", "difffilter", Unread),
    ("merge", "driver", Driver),
    ("mergetool", "cmd", Unread),
    ("remote", "receivepack", Unread),
    ("remote", "uploadpack", Unread),
    ("remote", "vcs", OfRemote),
    ("sendemail", "sendmailcmd", Unread),
    ("sequence", "editor", Off("false")),
    ("submodule", "update", Unread),
    ("trailer", "cmd", Unread),
    ("trailer", "command", Unread),
    ("uploadpack", "packobjectshook", Unread),
    ("web", "browser", Unread),
];

/// Settings that name no program, and change what a command means or make it start something else.
const PLAIN_OVERRIDES: [&str; 13] = [
    "advice.detachedHead=false",
    "commit.gpgSign=false",
    "core.quotePath=false",
    "fetch.recurseSubmodules=no",
    "gc.auto=0",
    "log.showSignature=false",
    "maintenance.auto=false",
    "merge.verifySignatures=false",
    "protocol.ext.allow=never",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
    "submodule.recurse=false",
    "tag.gpgSign=false",
];

/// Commands that reach a remote.
const OF_REMOTES: [&[u8]; 3] = [b"fetch", b"ls-remote", b"push"];

/// Commands that look at no file's content through a driver, and after which git calls no hook. Every other one is preceded by a listing of the
/// drivers.
const WITHOUT_DRIVERS: [&str; 16] = [
    "cat-file",
    "check-attr",
    "commit-tree",
    "config",
    "diff-tree",
    "for-each-ref",
    "init",
    "ls-files",
    "ls-remote",
    "merge-base",
    "remote",
    "rev-list",
    "rev-parse",
    "symbolic-ref",
    "update-index",
    "var",
];

/// The word that says what git is to do.
fn command(arguments: &[OsString]) -> &[u8] {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_bytes() {
            b"-c" => drop(words.next()),
            option if option.starts_with(b"-") => (),
            command => return command,
        }
    }
    b""
}

/// Whether a command of git may ask the drivers.
pub(super) fn asks_drivers(arguments: &[OsString]) -> bool {
    let command = command(arguments);
    let has = |option: &str| arguments.iter().any(|it| it == option);
    let is_without = WITHOUT_DRIVERS.iter().any(|it| it.as_bytes() == command);
    match command {
        b"ls-files" => has("--modified"),
        b"diff-index" => !has("--cached"),
        b"hash-object" => !has("--no-filters") && !has("--stdin") && !has("/dev/null"),
        b"log" => has("-p"),
        b"worktree" => !["list", "prune", "unlock"].into_iter().any(has),
        _ => !is_without,
    }
}

/// Whether a command of git talks to a remote.
pub(super) fn reaches_remote(arguments: &[OsString]) -> bool {
    OF_REMOTES.contains(&command(arguments))
}

/// The settings that a command gets whatever the configuration says.
pub(super) fn overrides(arguments: &[OsString]) -> impl Iterator<Item = String> {
    let reaches_remote = reaches_remote(arguments);
    let programs = PROGRAM_SETTINGS.iter().filter_map(move |(section, key, treatment)| match treatment {
        Off(value) => Some(format!("{section}.{key}={value}")),
        RemoteOnly(value) if !reaches_remote => Some(format!("{section}.{key}={value}")),
        RemoteOnly(_) | OfRemote | Driver | Unread => None,
    });
    PLAIN_OVERRIDES.into_iter().map(str::to_owned).chain(programs)
}

/// The settings, and their values, for a git that another program starts: nothing that a push may need is changed.
pub(super) fn overrides_of_others() -> impl Iterator<Item = (OsString, String)> {
    let pair = |setting: String| setting.split_once('=').map(|(name, value)| (name.into(), value.to_owned()));
    overrides(&["push".into()]).filter_map(pair).collect::<Vec<_>>().into_iter()
}

/// A program that a configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedProgram {
    pub(crate) setting: OsString,
    /// The file that names it.
    pub(crate) file: std::path::PathBuf,
    /// What the setting says, by its hash: it may hold a secret.
    pub(crate) digest: String,
    is_of_repository: bool,
    is_driver: bool,
    is_of_remotes: bool,
}

/// The command that lists what [`named_programs`] reads.
pub(super) const LISTING: [&str; 5] = ["config", "--list", "--show-scope", "--show-origin", "-z"];

/// Returns the settings in a listing that name programs.
pub(super) fn named_programs(listing: &[u8]) -> Vec<NamedProgram> {
    let fields: Vec<&[u8]> = listing.split(|it| *it == 0).collect();
    let programs = fields.chunks_exact(3).filter_map(|fields| {
        let (scope, origin, setting) = (fields[0], fields[1], fields[2]);
        let name = setting.split(|it| *it == b'\n').next().unwrap_or_default();
        // What is on the command line is our own.
        let treatment = treatment(name).filter(|_| scope != b"command")?;
        Some(NamedProgram {
            setting: OsStr::from_bytes(name).to_owned(),
            file: bytes_to_path(origin.strip_prefix(b"file:").unwrap_or(origin)),
            digest: sha256(&setting.escape_ascii().to_string())[..DIGITS].to_owned(),
            is_of_repository: scope != b"system" && scope != b"global",
            is_driver: treatment == Driver,
            is_of_remotes: matches!(treatment, RemoteOnly(_) | OfRemote),
        })
    });
    programs.collect()
}

/// So many digits of a hash as nobody finds twice.
const DIGITS: usize = 32;

fn treatment(name: &[u8]) -> Option<Treatment> {
    let dot = name.iter().position(|it| *it == b'.')?;
    let last = name.iter().rposition(|it| *it == b'.')?;
    let (section, key) = (&name[..dot], &name[last + 1..]);
    let known = PROGRAM_SETTINGS.iter().find(|it| it.0.as_bytes() == section && it.1.as_bytes() == key)?;
    // A driver without a name is none.
    (known.2 != Driver || dot != last).then_some(known.2)
}

/// Which programs of the person's own configuration git may start for us.
#[derive(Clone, Debug, Default)]
pub(crate) enum TrustedPrograms {
    #[default]
    None,
    /// Those that were named when the run was opened, by their digests.
    AtOpening(Arc<BTreeSet<String>>),
    /// All: the run was opened by a version that did not write them down.
    Unknown,
}

impl TrustedPrograms {
    pub(super) fn of(at_opening: Option<&[String]>) -> TrustedPrograms {
        let some = |it: &[String]| TrustedPrograms::AtOpening(Arc::new(it.iter().cloned().collect()));
        at_opening.map_or(TrustedPrograms::Unknown, some)
    }

    fn has(&self, program: &NamedProgram) -> bool {
        match self {
            _ if program.is_of_repository => false,
            TrustedPrograms::None => false,
            TrustedPrograms::AtOpening(digests) => digests.contains(&program.digest),
            TrustedPrograms::Unknown => true,
        }
    }

    /// Whether there is a program that may be started.
    pub(super) fn has_any(&self) -> bool {
        matches!(self, TrustedPrograms::AtOpening(digests) if !digests.is_empty())
    }

    /// Returns the first program of the repository's configuration that a command which talks to a remote would start,
    /// and that it did not name when the run was opened.
    pub(super) fn foreign_to_run<'a>(&self, programs: &'a [NamedProgram]) -> Option<&'a NamedProgram> {
        let TrustedPrograms::AtOpening(digests) = self else { return None };
        let is_foreign =
            |it: &&NamedProgram| it.is_of_remotes && it.is_of_repository && !digests.contains(&it.digest);
        programs.iter().find(is_foreign)
    }

    /// Returns the drivers that are not to be started. One of which any part is not trusted is not trusted.
    pub(super) fn untrusted_drivers(&self, programs: &[NamedProgram]) -> BTreeSet<OsString> {
        let untrusted = programs.iter().filter(|it| it.is_driver && !self.has(it));
        untrusted.map(|it| OsStr::from_bytes(driver_name(it.setting.as_bytes())).to_owned()).collect()
    }
}

fn driver_name(setting: &[u8]) -> &[u8] {
    &setting[..setting.iter().rposition(|it| *it == b'.').unwrap_or_default()]
}

/// The settings, and their values, by which a driver is switched off.
pub(super) fn silenced(driver: &OsStr) -> Vec<(OsString, &'static str)> {
    let endings: &[(&str, &str)] = match driver.as_bytes() {
        it if it.starts_with(b"filter.") => {
            &[(".clean", ""), (".smudge", ""), (".process", ""), (".required", "false")]
        }
        it if it.starts_with(b"diff.") => &[(".command", ""), (".textconv", "")],
        it if it.starts_with(b"hook.") => &[(".enabled", "false")],
        // An empty merge driver is an error; this one reports a conflict, which a person sees.
        _ => &[(".driver", "false")],
    };
    let with = |ending: &str| [driver, OsStr::new(ending)].iter().copied().collect::<OsString>();
    endings.iter().map(|(ending, value)| (with(ending), *value)).collect()
}

/// Whether an index could list a submodule: the mode of one stands in it, or it is kept in two files.
pub(super) fn may_list_submodules(index: &[u8]) -> bool {
    let holds = |part: &[u8]| index.windows(part.len()).any(|it| it == part);
    holds(&0o160_000_u32.to_be_bytes()) || holds(b"link")
}

/// Returns the paths of submodules, from a listing of the index with modes.
pub(super) fn submodules(listing: &[u8]) -> impl Iterator<Item = &OsStr> {
    let links = listing.split(|it| *it == 0).filter(|it| it.starts_with(b"160000 "));
    links.filter_map(|it| Some(OsStr::from_bytes(&it[it.iter().position(|it| *it == b'\t')? + 1..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(entries: &[(&str, &str, &str)]) -> Vec<u8> {
        let fields = entries.iter().flat_map(|(scope, name, value)| {
            [(*scope).to_owned(), "file:/config".to_owned(), format!("{name}\n{value}")]
        });
        fields.flat_map(|it| [it.into_bytes(), vec![0]].concat()).collect()
    }

    fn untrusted(trusted: &TrustedPrograms, entries: &[(&str, &str, &str)]) -> Vec<String> {
        let drivers = trusted.untrusted_drivers(&named_programs(&listing(entries)));
        drivers.into_iter().map(|it| it.into_string().expect("UTF-8")).collect()
    }

    #[test]
    fn g29_a_driver_is_trusted_while_all_of_it_is_as_it_was_at_the_opening() {
        let lfs = ("global", "filter.lfs.clean", "git-lfs clean -- %f");
        let pinned: Vec<String> = named_programs(&listing(&[lfs])).into_iter().map(|it| it.digest).collect();
        let trusted = TrustedPrograms::of(Some(&pinned));
        assert_eq!(untrusted(&trusted, &[lfs, ("global", "filter.lfs.required", "true")]), [""; 0]);
        assert_eq!(untrusted(&TrustedPrograms::default(), &[lfs]), ["filter.lfs"]);
        for more in [
            ("global", "filter.lfs.clean", "evil"),
            ("system", "filter.lfs.process", "evil"),
            ("local", "filter.lfs.clean", "git-lfs clean -- %f"),
        ] {
            assert_eq!(untrusted(&trusted, &[lfs, more]), ["filter.lfs"], "{more:?}");
        }
        assert_eq!(untrusted(&trusted, &[lfs, ("worktree", "merge.a.b=c.driver", "evil")]), ["merge.a.b=c"]);
        assert_eq!(untrusted(&TrustedPrograms::of(None), &[lfs]), [""; 0]);
    }

    #[test]
    fn g29_what_reaches_a_remote_is_what_the_repository_named_at_the_opening() {
        let ssh = ("local", "core.sshcommand", "ssh -i key");
        let pinned: Vec<String> = named_programs(&listing(&[ssh])).into_iter().map(|it| it.digest).collect();
        let foreign = |trusted: &TrustedPrograms, entry| {
            let programs = named_programs(&listing(&[ssh, entry]));
            trusted.foreign_to_run(&programs).map(|it| it.setting.to_str().expect("UTF-8").to_owned())
        };
        let trusted = TrustedPrograms::of(Some(&pinned));
        for (scope, name) in [
            ("local", "core.sshcommand"),
            ("worktree", "credential.helper"),
            ("local", "credential.https://a.example.helper"),
            ("local", "remote.origin.vcs"),
        ] {
            assert_eq!(foreign(&trusted, (scope, name, "evil")).as_deref(), Some(name));
            assert_eq!(foreign(&TrustedPrograms::of(None), (scope, name, "evil")), None);
        }
        for entry in [ssh, ("global", "credential.helper", "store"), ("command", "core.sshcommand", "false")]
        {
            assert_eq!(foreign(&trusted, entry), None, "{entry:?}");
        }
        assert_eq!(named_programs(&listing(&[("command", "core.pager", "cat")])), []);
    }

    #[test]
    fn g29_a_setting_is_known_with_and_without_a_subsection() {
        let names = [
            ("local", "credential.https://a.example.helper", "x"),
            ("local", "core.sshcommand", "x"),
            ("local", "filter.clean", "x"),
            ("local", "core.bare", "x"),
        ];
        let found = named_programs(&listing(&names));
        let names: Vec<_> = found.iter().map(|it| it.setting.to_str().expect("UTF-8")).collect();
        assert_eq!(names, ["credential.https://a.example.helper", "core.sshcommand"]);
    }

    #[test]
    fn g29_only_commands_that_are_known_not_to_ask_a_driver_are_spared_the_listing() {
        let asks = |words: &str| asks_drivers(&words.split(' ').map(OsString::from).collect::<Vec<_>>());
        // Git calls hooks of its configuration after the last of them.
        let asking = ["status", "-c a.b=c diff", "ls-files --modified", "log -p", "worktree add", "invented"];
        for words in asking.into_iter().chain(["fetch origin", "push origin", "update-ref --stdin"]) {
            assert!(asks(words), "{words}");
        }
        for words in [
            "-c a.b=c update-index --stdin",
            "ls-files",
            "diff-index --cached HEAD",
            "log -1",
            "worktree list",
            "rev-parse HEAD",
        ] {
            assert!(!asks(words), "{words}");
        }
    }
}
