//! A project with an agent and a check that are called by short names, so that no screen depends on
//! where the temporary folder is.

use loop_harness::Sandbox;
use loop_harness::Terminal;
use std::process::Command;

pub(crate) struct Stage {
    pub(crate) sandbox: Sandbox,
}

/// Counts the lines of a file in the tree: three make the work done.
const CHECK: &str = "#!/bin/sh\nn=$(cat work.txt 2>/dev/null | wc -l); f=$((3-n)); [ $f -gt 0 ] || f=0\n\
    echo \"tests_total=$((n+f)) tests_passing=$((n)) tests_failing=$f\"\n[ $f = 0 ]\n";

/// The agent says what it does, waits for a word, does a third of the work, and promises at the end.
pub(crate) const WAITS: &str = "echo reading the parser; echo here > \"$OUT/at\"; read x < \"$OUT/go\"\n\
    echo line >> work.txt; git add -A; git commit -q -m \"call $LOOP_CALL\"\n\
    echo; echo '<promise>TASK_COMPLETE</promise>'";

/// The same without waiting.
pub(crate) const WORKS: &str = "echo line >> work.txt; git add -A; git commit -q -m \"call $LOOP_CALL\"\n\
    echo; echo '<promise>TASK_COMPLETE</promise>'";

/// An agent that gets nowhere until a file says how.
pub(crate) const STUCK: &str = "[ -f \"$OUT/mended\" ] && printf '1\\n2\\n3\\n' > work.txt && git add -A && git commit -q -m mended\n\
    echo; echo '<promise>TASK_COMPLETE</promise>'";

impl Stage {
    pub(crate) fn new(agent: &str) -> Stage {
        let mut sandbox = Sandbox::new();
        sandbox.path_first.push(sandbox.path("bin"));
        let script = sandbox.agent(agent);
        sandbox.program("bin/agent", &format!("#!/bin/sh\nexec {script}\n"));
        sandbox.program("bin/check", CHECK);
        // What git tidies up in the background would be ended with the call, and told.
        for key in ["maintenance.auto", "gc.auto"] {
            sandbox.git(&["config", key, "0"]);
        }
        Stage { sandbox }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.sandbox.command(arguments)
    }

    /// `loop` with these words in a terminal.
    pub(crate) fn terminal(&self, rows: u16, columns: u16, arguments: &[&str]) -> Terminal {
        Terminal::start(&self.command(arguments), rows, columns)
    }

    /// The run that all of this is about, in a terminal.
    pub(crate) fn run(&self, rows: u16, columns: u16) -> Terminal {
        self.terminal(rows, columns, &RUN)
    }

    /// `loop` with these words and no terminal, to its end.
    pub(crate) fn plain(&self, arguments: &[&str]) -> loop_harness::Done {
        self.sandbox.start(self.command(arguments)).wait()
    }
}

pub(crate) const RUN: [&str; 6] = ["run", "fix the dates", "--agent-cmd", "agent", "--check", "tests=check"];
