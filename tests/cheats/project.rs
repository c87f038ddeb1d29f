//! One sample, laid out in a temporary folder with a git history, a HOME and a home of the controller
//! of its own. Agents and checks see the same environment in place as the controller would give them.

use crate::data::{Row, Sample, Start, Tool};
use crate::tools;
use loop_harness::Sandbox;
use std::fs::DirBuilder;
use std::ops::Deref;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Command, Output};

pub(crate) const PROMISE: &str = "<promise>TASK_COMPLETE</promise>";

pub(crate) struct Project {
    sandbox: Sandbox,
}

impl Deref for Project {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl Project {
    /// Nothing of the machine but its toolchains; folders of the person's HOME come first on PATH.
    fn empty() -> Project {
        let mut sandbox = Sandbox::empty();
        let own = [sandbox.user.join(".local/bin"), sandbox.user.join("bin")];
        let path = std::env::join_paths(own.iter().chain(tools::path())).expect("no colon in a path");
        sandbox.variables.push(("PATH", path));
        sandbox.variables.push(("CARGO_NET_OFFLINE", "true".into()));
        sandbox.variables.push(("GOTOOLCHAIN", "local".into()));
        Project { sandbox }
    }

    /// The committed sample at the row's start, after its setup.
    pub(crate) fn new(sample: &Sample, row: &Row) -> Project {
        let project = Project::empty();
        // A folder on PATH that is in use before the run begins.
        project.program("user/.local/bin/hello", "#!/bin/sh\necho hello\n");
        project.fill_caches(sample);
        for (name, text) in &sample.files {
            project.lay(sample, &format!("green/{name}"), name, text);
            project.lay(sample, &format!("project/{name}"), name, text);
        }
        if row.start == Start::Red {
            for (name, text) in &sample.red {
                project.lay(sample, &format!("project/{name}"), name, text);
            }
        }
        project
            .must("git init -q -b main; git config user.name tester; git config user.email tester@localhost");
        project.must(sample.prepare.as_deref().unwrap_or(":"));
        project.must("git add -A; git commit -q -m 'the beginning'");
        project.must(row.setup.as_deref().unwrap_or(":"));
        project
    }

    /// Compiling go's standard library takes ten seconds; everybody who uses go has it compiled, and so has a
    /// home in which a go project was proven before.
    fn fill_caches(&self, sample: &Sample) {
        if sample.needs.contains(&Tool::Go) {
            let library = tools::cache("go-library");
            let proofs = self.home.join("proof");
            for folder in [&library, &proofs] {
                DirBuilder::new().recursive(true).mode(0o700).create(folder).expect("a folder");
            }
            std::os::unix::fs::symlink(library, proofs.join("go")).expect("a link");
            let cache = self.user.join(".cache");
            std::fs::create_dir_all(&cache).expect("a folder");
            let source = tools::cache("go-build");
            let copied = Command::new("cp").arg("-r").args([&source, &cache]).status().expect("cp");
            assert!(copied.success(), "the cache of go could not be copied");
        }
    }

    /// Writes a file of the sample below the root.
    fn lay(&self, sample: &Sample, place: &str, name: &String, text: &str) {
        match sample.executable.contains(name) {
            true => self.program(place, text),
            false => self.file(place, text),
        }
    }

    /// A script in the tree, with the folders that rows may name.
    pub(crate) fn shell(&self, script: &str) -> Output {
        self.sh(&["-c", &format!("{}\n{script}", self.header())])
    }

    /// A fresh clone of the branch, by git's own protocol so that only its objects come along, with a HOME
    /// of its own and its dependencies installed afresh.
    pub(crate) fn seen_from_outside(&self, sample: &Sample) -> Project {
        let clone = Project::empty();
        clone.take_notes_of(self);
        clone.fill_caches(sample);
        let source = self.project.display();
        clone.must(&format!("git -c protocol.file.allow=always clone -q --no-local --single-branch --recurse-submodules '{source}' ."));
        clone.must(sample.prepare.as_deref().unwrap_or(":"));
        clone
    }

    /// Gives a clone the notes of the original, so that scripts find the commit of the beginning.
    fn take_notes_of(&self, original: &Project) {
        let copied = Command::new("cp").arg("-r").args([original.path("out/."), self.path("out")]).status();
        assert!(copied.expect("cp").success(), "the notes could not be copied");
    }

    pub(crate) fn must(&self, script: &str) {
        let done = self.shell(script);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{script}\nfailed: {said}\n{}", String::from_utf8_lossy(&done.stdout));
    }

    fn header(&self) -> String {
        let [green, out, venv] = [self.path("green"), self.path("out"), tools::cache("venv")];
        format!("set -eu\nGREEN='{}' OUT='{}' VENV='{}'", green.display(), out.display(), venv.display())
    }

    /// Writes the agent: it acts in its first call, commits, and promises in every call.
    pub(crate) fn agent(&self, row: &Row) -> PathBuf {
        let path = self.path("agent.sh");
        let again = row.again.as_deref().unwrap_or(":");
        let text = format!(
            "{}\n[ -t 0 ] || cat > \"$OUT/prompt-${{LOOP_CALL:-1}}\"\n\
             if [ \"${{LOOP_CALL:-1}}\" = 1 ]; then\n{}\nelse\n{again}\nfi\n\
             git add -A && git commit -q -m work || true\necho; echo '{PROMISE}'\n",
            self.header(),
            row.script
        );
        self.file("agent.sh", text);
        path
    }

    /// Runs the agent as the controller would, without one.
    pub(crate) fn act(&self, row: &Row) -> Output {
        self.sh(&[&self.agent(row).to_string_lossy()])
    }

    /// Runs a check, `NAME=COMMAND`, in place.
    pub(crate) fn check(&self, check: &str) -> Output {
        let (_, command_line) = check.split_once('=').expect("NAME=COMMAND");
        self.sh(&["-c", command_line])
    }

    fn sh(&self, words: &[&str]) -> Output {
        self.furnished("sh", words).output().expect("sh")
    }
}
