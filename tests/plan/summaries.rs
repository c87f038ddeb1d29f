//! A plan is done when it has its own summary, whoever did its last task.

use super::project::{FOLDER, HONEST, Project};

/// Does every task and says no more than that; the summary is written when it is asked for.
const LATE: &str = "case $LOOP_PHASE in EXECUTE) case $LOOP_ITEM in */summary) summary; say PLAN_COMPLETE;; *) do_task; say TASK_COMPLETE;; esac;;\n\
    VERIFY) report passed 'score: 4/4';; esac";

fn summaries(project: &Project) -> usize {
    let files = std::fs::read_dir(project.sandbox.project.join(FOLDER)).expect("the phase");
    files.flatten().filter(|it| it.file_name().to_string_lossy().ends_with("-SUMMARY.md")).count()
}

#[test]
fn a_plan_whose_tasks_are_done_is_asked_for_its_summary() {
    let project = Project::new();
    let done = project.run(LATE, &[]).exits(0);
    assert_eq!((project.sandbox.calls().len(), summaries(&project)), (11, 3), "{}", done.err);
    assert!(
        project.sandbox.prompt(4).contains("Your task: **Write 03-01-SUMMARY.md**"),
        "after its last task"
    );
    assert!(
        project.loop_state().contains("| 4 | 03-01 | Write 03-01-SUMMARY.md | done | - | PLAN_COMPLETE |")
    );
    let status = project.sandbox.run(&["status"]).exits(0).out;
    assert!(status.contains("plans       3/3 done") && status.contains("tasks       7/7 done"), "{status}");
}

#[test]
fn a_summary_that_is_not_written_is_a_failure_whatever_was_committed() {
    let project = Project::new();
    let liar = "case $LOOP_PHASE in EXECUTE) case $LOOP_ITEM in */summary) case $LOOP_CALL in\n\
        4) say PLAN_COMPLETE;; 5) do_task; say TASK_COMPLETE;; *) : > $folder/03-01-SUMMARY.md; echo x > $folder/03-09-SUMMARY.md; say PLAN_COMPLETE;; esac;;\n\
        *) do_task; say TASK_COMPLETE;; esac;; esac";
    project.run(liar, &[]).exits(4);
    assert_eq!(project.sandbox.calls().len(), 6, "three failures are stuck");
    for call in [5, 6] {
        let prompt = project.sandbox.prompt(call);
        assert!(prompt.contains("the summary of the plan is still to be written"), "{prompt}");
    }
    project.agent(HONEST);
    project.run(LATE, &["--reset"]).exits(0);
}

/// A folder of another tool: all boxes are ticked, and the session ended before the summary.
#[test]
fn ticked_tasks_without_a_summary_need_nothing_but_that() {
    let project = Project::new();
    for name in ["03-02", "03-03"] {
        project.sandbox.git(&["rm", "-q", &format!("{FOLDER}/{name}-PLAN.md")]);
    }
    project.sandbox.write(&format!("{FOLDER}/03-01-PLAN.md"), "## Tasks\n- [x] one\n- [x] two\n");
    project.sandbox.write("03-01_1.txt", "x\n");
    project.sandbox.commit("ticked");
    project.run(LATE, &[]).exits(0);
    assert_eq!((project.sandbox.calls().len(), summaries(&project)), (2, 1), "the summary and the verifier");
    // One that an editor of long ago saved is a summary too.
    let latin = project.sandbox.project.join(FOLDER).join("03-01-SUMMARY.md");
    std::fs::write(latin, b"fertig: \xfcber alles\n").expect("written");
    project.run(LATE, &["--fresh"]).exits(0).says("1/1 plans and 2/2 tasks done");
}
