//! One sample, laid out in a temporary folder with a git history, a HOME and a home of the controller
//! of its own. Agents and checks see the same environment in place as the controller would give them.

use crate::data::{Row, Sample, Start, Tool};
use crate::tools;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) const PROMISE: &str = "<promise>TASK_COMPLETE</promise>";

pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) tree: PathBuf,
    _folder: tempfile::TempDir,
}

impl Project {
    /// The committed sample at the row's start, after its setup.
    pub(crate) fn new(sample: &Sample, row: &Row) -> Project {
        let folder = tempfile::Builder::new().prefix("loop-cheats-").tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a real path");
        let project = Project { tree: root.join("project"), root, _folder: folder };
        for name in ["project", "green", "tmp", "out", "person/.local/bin"] {
            std::fs::create_dir_all(project.root.join(name)).expect("a folder");
        }
        // A folder on PATH that is in use before the run begins.
        project.write(&project.root.join("person/.local/bin/hello"), "#!/bin/sh\necho hello\n", true);
        project.fill_caches(sample);
        for (name, text) in &sample.files {
            let mark = sample.executable.contains(name);
            project.write(&project.root.join("green").join(name), text, mark);
            project.write(&project.tree.join(name), text, mark);
        }
        if row.start == Start::Red {
            for (name, text) in &sample.red {
                project.write(&project.tree.join(name), text, sample.executable.contains(name));
            }
        }
        project
            .must("git init -q -b main; git config user.name tester; git config user.email tester@localhost");
        project.must(sample.prepare.as_deref().unwrap_or(":"));
        project.must("git add -A; git commit -q -m 'the beginning'");
        project.must(row.setup.as_deref().unwrap_or(":"));
        project
    }

    /// Compiling go's standard library takes ten seconds; everybody who uses go has it compiled.
    fn fill_caches(&self, sample: &Sample) {
        if sample.needs.contains(&Tool::Go) {
            let cache = self.root.join("person/.cache");
            std::fs::create_dir_all(&cache).expect("a folder");
            let source = tools::cache("go-build");
            let copied = Command::new("cp").arg("-r").args([&source, &cache]).status().expect("cp");
            assert!(copied.success(), "the cache of go could not be copied");
        }
    }

    fn write(&self, path: &Path, text: &str, is_executable: bool) {
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(path, text).expect("a file");
        if is_executable {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        }
    }

    /// Nothing of the machine but its toolchains; folders of the person's HOME come first on PATH.
    pub(crate) fn furnish(&self, command: &mut Command) {
        let person = self.root.join("person");
        let own = [person.join(".local/bin"), person.join("bin")];
        let path: OsString =
            std::env::join_paths(own.iter().chain(tools::path())).expect("no colon in a path");
        command.env_clear().env("PATH", path).env("LANG", "C.UTF-8").env("HOME", person);
        command.env("TMPDIR", self.root.join("tmp")).env("LOOP_HOME", self.root.join("loop-home"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("CARGO_NET_OFFLINE", "true").env("GOTOOLCHAIN", "local");
        command.stdin(Stdio::null()).current_dir(&self.tree);
    }

    /// A script in the tree, with the folders that rows may name.
    pub(crate) fn shell(&self, script: &str) -> Output {
        let mut command = Command::new("sh");
        self.furnish(&mut command);
        command.arg("-c").arg(format!("{}\n{script}", self.header())).output().expect("sh")
    }

    /// A fresh clone with a HOME of its own and its dependencies installed afresh.
    pub(crate) fn seen_from_outside(&self, sample: &Sample) -> Project {
        let folder = tempfile::Builder::new().prefix("loop-cheats-").tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a real path");
        let clone = Project { tree: root.join("project"), root, _folder: folder };
        for name in ["project", "tmp", "person"] {
            std::fs::create_dir_all(clone.root.join(name)).expect("a folder");
        }
        clone.take_notes_of(self);
        clone.fill_caches(sample);
        let source = self.tree.display();
        clone.must(&format!("git -c protocol.file.allow=always clone -q --recurse-submodules '{source}' ."));
        clone.must(sample.prepare.as_deref().unwrap_or(":"));
        clone
    }

    /// Gives a clone the notes of the original, so that scripts find the commit of the beginning.
    fn take_notes_of(&self, original: &Project) {
        let copied =
            Command::new("cp").arg("-r").args([original.root.join("out"), self.root.join("out")]).status();
        assert!(copied.expect("cp").success(), "the notes could not be copied");
    }

    pub(crate) fn must(&self, script: &str) {
        let done = self.shell(script);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{script}\nfailed: {said}\n{}", String::from_utf8_lossy(&done.stdout));
    }

    fn header(&self) -> String {
        let [green, out, venv] = [self.root.join("green"), self.root.join("out"), tools::cache("venv")];
        format!("set -eu\nGREEN='{}' OUT='{}' VENV='{}'", green.display(), out.display(), venv.display())
    }

    /// Writes the agent: it acts in its first call, commits, and promises in every call.
    pub(crate) fn agent(&self, row: &Row) -> PathBuf {
        let path = self.root.join("agent.sh");
        let again = row.again.as_deref().unwrap_or(":");
        let text = format!(
            "{}\n[ -t 0 ] || cat > \"$OUT/prompt-${{LOOP_CALL:-1}}\"\n\
             if [ \"${{LOOP_CALL:-1}}\" = 1 ]; then\n{}\nelse\n{again}\nfi\n\
             git add -A && git commit -q -m work || true\necho; echo '{PROMISE}'\n",
            self.header(),
            row.script
        );
        self.write(&path, &text, false);
        path
    }

    /// Runs the agent as the controller would, without one.
    pub(crate) fn act(&self, row: &Row) -> Output {
        let mut command = Command::new("sh");
        self.furnish(&mut command);
        command.arg(self.agent(row)).output().expect("sh")
    }

    /// Runs a check, `NAME=COMMAND`, in place.
    pub(crate) fn check(&self, check: &str) -> Output {
        let (_, command_line) = check.split_once('=').expect("NAME=COMMAND");
        let mut command = Command::new("sh");
        self.furnish(&mut command);
        command.arg("-c").arg(command_line).output().expect("sh")
    }
}
