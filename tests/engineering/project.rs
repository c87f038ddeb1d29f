//! A small project with a domain of three systems. Its tests are a script of TAP: `add` is broken, so the
//! first system turns a red test green.

use loop_harness::{Done, Sandbox};
use serde_json::Value;

pub(crate) const QUEUE: &str = r#"{
  "domain": "shop", "repository": "org/shop", "dreamState": "dream-state.md",
  "systems": [
    {"id": "sys-001", "name": "Base", "status": "complete", "dependencies": [], "priority": 1},
    {"id": "sys-002", "name": "Adder", "description": "adds numbers", "githubIssue": 7, "status": "specified",
     "dependencies": ["sys-001"], "priority": 1, "capabilities": ["adding"]},
    {"id": "sys-003", "name": "Totals", "status": "specified", "dependencies": ["sys-002"], "priority": 2}
  ]
}
"#;

pub(crate) const SYSTEM: &str = "domain-memory/shop/systems/sys-002";

/// Words of shell that agents of these tests are made of.
pub(crate) const WORDS: &str = r#"
d=domain-memory/shop/systems/$ID
mkdir -p "$d"
write() { echo "$2 by call $LOOP_CALL" >> "$d/$1"; }
say() { printf -- 'I worked.\n\n```json\n{"status":"done","summary":"%s"%s}\n```\n' "$LOOP_SKILL" "$1"; }
file() { case $LOOP_SKILL in
  entry-portal) echo SYSTEM.md;; requirements) echo REQUIREMENTS.md;; spec) echo FEATURESPEC.md;;
  estimation) echo ESTIMATES.md;; triage) echo TRIAGE.md;; architect) echo ADR.md;;
  architecture-review) echo ARCHITECTURE-REVIEW.md;; scaffold) echo SCAFFOLD.md;; implement) echo IMPLEMENTATION.md;;
  test-generation) echo TESTS.md;; code-verification) echo VERIFICATION.md;; code-validation) echo VALIDATION.md;;
  integration-test) echo INTEGRATION.md;; security-audit) echo SECURITY-AUDIT.md;; perf-analysis) echo PERFORMANCE.md;;
  document) echo DOCUMENTATION.md;; code-review) echo REVIEW.md;; refactor) echo REFACTORING.md;; deploy) echo DEPLOY.md;;
  retrospective) echo RETROSPECTIVE.md;; calibration-tracker) echo CALIBRATION.md;;
  git-workflow) [ "$LOOP_PHASE" = SHIP ] && echo PULL_REQUEST.md || echo SCAFFOLD.md;;
  memory-manager) [ "$LOOP_PHASE" = COMPLETE ] && echo HANDOFF.md || echo CONTEXT.md;; *) echo NOTES.md;; esac; }
work() { [ "$LOOP_SKILL" = implement ] && echo 'add() { echo $(($1 + $2)); }' > lib.sh; true; }
save() { case $LOOP_PHASE in SHIP|COMPLETE) :;; *) git add -A; git commit -qm "feat: $LOOP_SKILL" || true;; esac; }
claims() { case $LOOP_SKILL in
  security-audit) echo ',"metrics":{"critical_findings":0,"high_findings":0}';;
  perf-analysis) echo ',"metrics":{"perf_targets_total":0}';;
  code-review) echo ',"verdict":"approve"';; esac; }
honest() { work; write "$(file)" "$LOOP_SKILL"; save; say "$(claims)"; }
"#;

/// The ten stages with the skills that nothing can be left without: half as many calls. For tests that are about
/// something else than the skills.
pub(crate) const BRIEF: &str = r#"
[[phase]]
name   = "INIT"
skills = ["memory-manager"]
[[phase]]
name   = "SCAFFOLD"
skills = ["scaffold"]
[[phase]]
name   = "VALIDATE"
skills = ["security-audit", "perf-analysis"]
[[phase]]
name   = "REVIEW"
skills = ["code-review"]
[[phase]]
name   = "COMPLETE"
skills = ["memory-manager"]
"#;

pub(crate) struct Project {
    pub(crate) sandbox: Sandbox,
}

impl Project {
    pub(crate) fn new() -> Project {
        let sandbox = Sandbox::new();
        sandbox.write("lib.sh", "add() { echo 0; }\n");
        sandbox.write(
            "test.sh",
            "echo 1..2\n. ./lib.sh\necho 'ok 1 - it loads'\n\
             [ \"$(add 1 2)\" = 3 ] && echo 'ok 2 - it adds' || { echo 'not ok 2 - it adds'; exit 1; }\n",
        );
        sandbox.write("domain-memory/shop/system-queue.json", QUEUE);
        sandbox.write(
            ".loop/workflow.toml",
            "extends = \"engineering\"\nmode = \"autonomous\"\n[modes.autonomous]\ngates = []\n\
             [checks.tests]\nrun = \"sh test.sh\"\ncounts = \"tap\"\n\
             [skills.deploy]\ntarget = \"none\"\n",
        );
        sandbox.commit("a project");
        Project { sandbox }
    }

    /// The same with [`BRIEF`] stages.
    pub(crate) fn brief() -> Project {
        let project = Project::new();
        let text = project.sandbox.read(".loop/workflow.toml");
        project.sandbox.write(".loop/workflow.toml", format!("{text}{BRIEF}"));
        project.sandbox.commit("fewer skills");
        project
    }

    pub(crate) fn agent(&self, script: &str) -> String {
        self.sandbox.agent(&format!("ID=${{ID:-sys-002}}\n{WORDS}\n{script}"))
    }

    /// Runs the second system with an agent.
    pub(crate) fn run(&self, script: &str, more: &[&str]) -> Done {
        let agent = self.agent(script);
        let mut arguments = vec!["run", "sys-002", "--agent-cmd", &agent];
        arguments.extend(more);
        self.sandbox.run(&arguments)
    }

    /// The same where somebody moves the target while an agent works: the person says that it was theirs.
    pub(crate) fn run_with_moves(&self, script: &str, more: &[&str]) -> Done {
        self.run(script, more).exits(3).says("no run of this home did it");
        self.sandbox.run(&["answer", "retry"]).exits(0);
        self.run(script, more)
    }

    /// A file of the project as JSON.
    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.sandbox.read(name)).expect("JSON")
    }

    pub(crate) fn status(&self) -> Value {
        self.sandbox.status()
    }

    /// What the log says, in the order in which it happened.
    pub(crate) fn steps(&self) -> String {
        self.sandbox.run(&["log"]).exits(0).out
    }

    /// `loop-state.json` of the second system.
    pub(crate) fn loop_state(&self) -> Value {
        self.json(&format!("{SYSTEM}/loop-state.json"))
    }

    /// The second system as the queue's file has it.
    pub(crate) fn system(&self, id: &str) -> Value {
        let queue = self.json("domain-memory/shop/system-queue.json");
        let systems = queue["systems"].as_array().expect("systems").clone();
        systems.into_iter().find(|it| it["id"] == id).expect("a system")
    }
}
