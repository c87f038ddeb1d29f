//! A small project with a planning folder: phase 3 has three plans with seven tasks, two requirements and
//! two success criteria; its validation is a script that counts one test.

use loop_harness::{Done, Sandbox};
use serde_json::Value;

pub(crate) const FOLDER: &str = ".planning/phases/03-accounts";

pub(crate) const ROADMAP: &str = "# Roadmap\n\n- [x] **Phase 1: Base** - first (completed 2026-01-01)\n\
    - [ ] **Phase 3: Accounts** - people have accounts\n- [ ] **Phase 10: Far** - later\n\n## Phase Details\n\n\
    ### Phase 1: Base\n**Goal**: a base\n\n### Phase 3: Accounts\n**Goal**: People have accounts\n\
    **Requirements**: AUTH-01, AUTH-02\n**Success Criteria** (what must be TRUE):\n  1. People can log in\n\
    \x20 2. People can log out\n\n### Phase 10: Far\n**Goal**: far away\n";

/// Words of shell that agents of these tests are made of.
const WORDS: &str = r#"
folder=.planning/phases/03-accounts
do_task() { f=$(echo "$LOOP_ITEM" | tr / _).txt; echo "$LOOP_CALL" > "$f"; git add "$f"; git commit -qm "feat($LOOP_ITEM): work"; }
say() { printf -- 'I worked.\n\n---\nEXIT_SIGNAL: %s\nTASK: t\nCOMMIT: %s\n---\n' "$1" "$(git rev-parse --short HEAD)"; }
summary() { echo done > "$folder/${LOOP_ITEM%/*}-SUMMARY.md"; }
honest() { case $LOOP_ITEM in */summary) summary; say PLAN_COMPLETE; return;; esac; do_task; case $LOOP_ITEM in 03-01/3|03-02/2|03-03/2) summary; say PLAN_COMPLETE;; *) say TASK_COMPLETE;; esac; }
report() { printf -- '---\nphase: 3\nverified: 2026-11-16T10:00:%02dZ\nstatus: %s\n%s\n---\n\n# Report\n' "$LOOP_CALL" "$1" "$2" > "$folder/03-VERIFICATION.md"; echo '## Verification Complete'; }
"#;

/// An agent that does every task and finds everything well.
pub(crate) const HONEST: &str =
    "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) report passed 'score: 4/4';; esac";

pub(crate) struct Project {
    pub(crate) sandbox: Sandbox,
}

impl Project {
    pub(crate) fn new() -> Project {
        let sandbox = Sandbox::new();
        sandbox.write("test.sh", "echo 1..1\n[ -f broken ] && { echo 'not ok 1 - login works'; exit 1; }\n[ -f 03-01_1.txt ] && echo 'ok 1 - login works' || { echo 'not ok 1 - login works'; exit 1; }\n");
        sandbox.write(".planning/ROADMAP.md", ROADMAP);
        sandbox.write(
            ".planning/REQUIREMENTS.md",
            "- [ ] **AUTH-01**: Accounts exist\n- [ ] **AUTH-02**: Accounts end\n",
        );
        sandbox.write(".planning/STATE.md", "# State\n\n## Current Position\n\nPhase: 3 of 10 (Accounts)\nPlan: 0 of 3\nStatus: Ready to execute\n");
        sandbox.write(".planning/LEARNINGS.md", "# Learnings\n\n## Discovered Issues\n\n| Date | Issue |\n|---|---|\n| 1 | the socket is slow |\n");
        sandbox.write(
            ".planning/config.json",
            r#"{"mode": "yolo", "loop": {"validation_commands": ["sh test.sh"]}}"#,
        );
        for (plan, wave, tasks, head) in [
            ("03-01", 1, 3, "requirements: [AUTH-01]\nmust_haves:\n  truths:\n    - \"People can log in\""),
            ("03-02", 1, 2, "depends_on: [\"03-01\"]"),
            ("03-03", 2, 2, "autonomous: true"),
        ] {
            sandbox.write(&format!("{FOLDER}/{plan}-PLAN.md"), plan_text(wave, head, tasks));
        }
        sandbox.commit("a plan");
        Project { sandbox }
    }

    pub(crate) fn config(&self, text: &str) {
        self.sandbox.write(".planning/config.json", text);
        self.sandbox.commit("configuration");
    }

    pub(crate) fn agent(&self, script: &str) -> String {
        self.sandbox.agent(&format!("{WORDS}\n{script}"))
    }

    /// Runs phase 3 with an agent.
    pub(crate) fn run(&self, script: &str, more: &[&str]) -> Done {
        let agent = self.agent(script);
        let mut arguments = vec!["run", "3", "--agent-cmd", &agent];
        arguments.extend(more);
        self.sandbox.run(&arguments)
    }

    pub(crate) fn status(&self) -> Value {
        self.sandbox.status()
    }

    pub(crate) fn loop_state(&self) -> String {
        self.sandbox.read(".planning/LOOP-STATE.md")
    }

    /// The row of a requirement.
    pub(crate) fn row(&self, id: &str) -> Value {
        let status = self.status();
        let rows = status["requirements"].as_array().expect("rows").clone();
        rows.into_iter().find(|it| it["id"] == id).expect("the row")
    }
}

pub(crate) fn plan_text(wave: u32, head: &str, tasks: u32) -> String {
    let tasks: String = (1..=tasks)
        .map(|it| format!("<task type=\"auto\">\n  <name>Task {it}: step {it}</name>\n</task>\n\n"))
        .collect();
    format!("---\nphase: 03-accounts\nwave: {wave}\n{head}\n---\n\n<tasks>\n\n{tasks}</tasks>\n")
}
