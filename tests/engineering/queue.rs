//! The queue by its commands and by its file.

use crate::project::Project;
use loop_harness::Sandbox;

#[test]
fn a_queue_is_listed_with_what_its_systems_wait_for() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    sandbox.run(&["status"]).exits(0).says("no run in this project").says("next: loop queue");
    let list = sandbox.run(&["queue"]).exits(0);
    let list = list.says("1 of 3 complete").says("sys-003").says("waits for sys-002");
    list.says("next: loop run sys-002");
    sandbox.run(&["queue", "show", "sys-002"]).exits(0).says("adds numbers").says("needed by");
    sandbox.run(&["queue", "show", "sys-009"]).exits(2).says("not in the queue");
    sandbox.run(&["queue", "next", "--json"]).exits(0).says("\"sys-002\"");
}

#[test]
fn systems_are_added_and_changed_along_legal_edges() {
    let sandbox = Sandbox::new();
    sandbox.run(&["queue"]).exits(2).says("there is no queue").says("loop queue add");
    sandbox.run(&["queue", "add", "First"]).exits(0).says("queue of main").says("next: loop run sys-001");
    sandbox
        .run(&["queue", "add", "Second", "--needs", "sys-001", "--priority", "1"])
        .exits(0)
        .says("sys-002")
        .says("next: loop run sys-001");
    sandbox.run(&["queue", "set", "sys-001", "--needs", "sys-002"]).exits(2).says("a cycle of dependencies");
    sandbox.run(&["queue", "set", "sys-001", "--needs", "sys-007"]).exits(2).says("not in the queue");
    let refused = sandbox.run(&["queue", "set", "sys-001", "--status", "complete"]).exits(2);
    refused.says("cannot become complete").says("help: only a run sets that status: loop run sys-001");
    sandbox.run(&["queue", "set", "sys-001", "--status", "ready"]).exits(0).says("ready");
    let text = sandbox.read("domain-memory/main/system-queue.json");
    let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(file["systems"][1]["dependencies"][0], "sys-001");
    assert_eq!(file["domain"], "main");
}

#[test]
fn an_edit_of_the_file_counts_and_a_mistake_in_it_is_named() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    sandbox.run(&["queue"]).exits(0);
    let file = "domain-memory/shop/system-queue.json";
    assert_eq!(sandbox.read(file), crate::project::QUEUE, "whoever only reads writes nothing");
    let edited = sandbox.read(file).replace("\"Totals\"", "\"Sums\"");
    sandbox.write(file, &edited);
    sandbox.run(&["queue"]).exits(0).says("Sums");
    assert_eq!(sandbox.read(file), edited, "an edit that holds stays as it was written");
    // A change of ours is written, each system with its id and name first.
    sandbox.run(&["queue", "set", "sys-003", "--priority", "4"]).exits(0);
    let good = sandbox.read(file);
    assert!(good.contains("{\n      \"id\": \"sys-003\",\n      \"name\": \"Sums\","), "{good}");
    sandbox.write(file, good.replace("\"sys-001\"\n      ]", "\"sys-042\"\n      ]"));
    sandbox.run(&["queue"]).exits(8).says("sys-002 depends on sys-042, which is not in the queue");
    sandbox.run(&["run", "sys-002", "--agent-cmd", "true"]).exits(8).says("sys-042");
    sandbox.write(file, good.replace("\"complete\"", "\"discovered\""));
    sandbox.run(&["queue"]).exits(0).says("sys-001 stays complete");
    assert_eq!(project.system("sys-001")["status"], "complete", "the file says what holds");
}

/// Nobody runs another command in between: what the run itself writes must hold the edit.
#[test]
fn what_a_person_writes_into_the_queue_while_a_run_works_is_kept() {
    let project = Project::new();
    let file = project.sandbox.project.join("domain-memory/shop/system-queue.json");
    let edit =
        format!("sed -i 's/\"Totals\"/\"Sums\"/; s/\"priority\": 2/\"priority\": 7/' {}", file.display());
    let stuck = "printf -- '```json\\n{\"status\":\"blocked\",\"summary\":\"no key\"}\\n```\\n'";
    project.run(&format!("{edit}; {stuck}"), &[]).exits(4);
    let (system, edited) = (project.system("sys-002"), project.system("sys-003"));
    assert_eq!(system["status"], "blocked");
    assert_eq!((edited["name"].as_str(), edited["priority"].as_u64()), (Some("Sums"), Some(7)));
}

#[test]
fn an_agent_cannot_change_the_queue() {
    let project = Project::new();
    let set = "queue set sys-003 --priority 1 > \"$OUT/said\" 2>&1; honest";
    project.run(&format!("{} {set}", env!("CARGO_BIN_EXE_loop")), &["-n", "1"]).exits(6);
    let said = project.sandbox.notes("said").join(" ");
    assert!(said.contains("only a person may use loop queue"), "{said}");
    let list = project.sandbox.run(&["queue", "show", "sys-003", "--json"]).exits(0);
    list.says("\"priority\": 2");
}

#[test]
fn or03_the_lowest_priority_comes_first_and_then_the_order_of_the_queue() {
    let sandbox = Sandbox::new();
    sandbox.run(&["queue", "add", "First", "--priority", "2"]).exits(0);
    sandbox.run(&["queue", "add", "Second", "--priority", "1"]).exits(0);
    sandbox.run(&["queue", "add", "Third", "--priority", "1"]).exits(0);
    sandbox.run(&["queue", "next"]).exits(0).says("sys-002");
    sandbox.run(&["queue", "set", "sys-002", "--priority", "2"]).exits(0);
    sandbox.run(&["queue", "next"]).exits(0).says("sys-003");
    sandbox.run(&["queue", "set", "sys-003", "--priority", "3"]).exits(0);
    sandbox.run(&["queue", "next"]).exits(0).says("sys-001");
}

#[test]
fn or07_a_system_without_capabilities_is_one_that_is_named_like_it() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    sandbox.run(&["queue", "add", "Totals by month"]).exits(0).says("sys-004");
    let agent = project.agent("ID=sys-004; d=domain-memory/shop/systems/$ID; mkdir -p $d; honest");
    sandbox.run(&["run", "sys-004", "-n", "3", "--agent-cmd", &agent]).exits(6);
    sandbox.run(&["status"]).exits(0).says("State: TEST (capability 1/1: Totals by month)");
}

/// How far a system is, only a run says: nobody wakes its dependants by hand.
#[test]
fn or04_progress_is_not_set_by_hand() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    for status in ["in-progress", "review", "complete"] {
        let refused = sandbox.run(&["queue", "set", "sys-002", "--status", status]).exits(2);
        refused
            .says(&format!("sys-002 is specified and cannot become {status}"))
            .says("only a run sets that status: loop run sys-002");
    }
    assert_eq!(project.system("sys-002")["status"], "specified");
}

/// What does not hold of an edit that was made during a call is undone, and said.
#[test]
fn an_edit_of_progress_during_a_call_is_undone_and_said() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let file = sandbox.project.join("domain-memory/shop/system-queue.json").display().to_string();
    let edit = format!("sed -i s/in-progress/complete/ {file}");
    let script = format!("if [ $LOOP_SKILL = scaffold ]; then {edit}; fi; honest");
    project.run(&script, &["-n", "3"]).exits(6).says("sys-002 stays in-progress: a run works on it");
    assert_eq!(project.system("sys-002")["status"], "in-progress");
}
