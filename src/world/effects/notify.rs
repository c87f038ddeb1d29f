//! Telling a person: the command of `notify` is run with what there is to say in its environment.

use crate::drive::Performed;
use crate::measure::checks::child_environment::child_environment;
use crate::measure::checks::run_checks::{Cut, exit_words};
use crate::world::question_text;
use crate::world::real::Host;
use loop_core::engine::Event;
use loop_store::run::Run;
use loop_supervise::RUN_MARK;
use loop_supervise::protocol::{Bounds, Order, OrderKind};
use std::ffi::OsString;

impl Host<'_> {
    pub(crate) fn tell(&mut self, run: &Run) -> anyhow::Result<Performed> {
        self.status = None;
        let Some(command) = &run.workflow.notify else {
            return Ok(Performed::Done(Event::Told { trouble: None }));
        };
        let trouble = self.notify(run, command)?;
        Ok(Performed::Done(Event::Told { trouble }))
    }

    /// Runs the person's own command; that it fails is a fact, not an error.
    fn notify(&mut self, run: &Run, command: &str) -> anyhow::Result<Option<String>> {
        let status = loop_core::engine::Status::of(&run.state).word();
        let (reason, next_step) = (run.state.reason(&run.workflow), run.state.next_step(&run.workflow));
        // The reason is one line; what a question says below it is part of `LOOP_QUESTION`.
        let reason = reason.lines().next().unwrap_or_default();
        let question = run.state.question();
        let question =
            question.map(|it| question_text::whole(&run.workflow, &run.state, it)).unwrap_or_default();
        let set = [
            ("LOOP_QUESTION", question.as_str()),
            (RUN_MARK, self.run_id.as_str()),
            ("LOOP_STATUS", status),
            ("LOOP_REASON", reason),
            ("LOOP_NEXT_STEP", &next_step),
        ];
        let order = Order {
            stem: "notify".to_owned(),
            kind: OrderKind::Check,
            argv: ["sh", "-c", command].map(OsString::from).to_vec(),
            cwd: self.place.clone(),
            env: child_environment(&set, &|_| true),
            stdin: String::new(),
            bounds: Bounds {
                first_ms: u64::MAX,
                idle_ms: u64::MAX,
                // A notification that takes longer is stuck, and the run should not be.
                total_ms: 30_000,
                pipe_ms: 500,
                grace_ms: 500,
                out_bytes: 1 << 20,
                memory_bytes: u64::MAX,
                processes: u64::MAX,
            },
        };
        Ok(match self.shim.carry_out(run.state.epoch, order)? {
            Ok(exit) if exit.code == Some(0) => None,
            Ok(exit) => Some(format!("the notify command: {}", exit_words(exit.code, exit.signal))),
            Err(Cut) => None,
        })
    }
}
