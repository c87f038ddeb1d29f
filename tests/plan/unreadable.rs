//! Files that are there and cannot be taken for what they are: none of them is passed over in silence.

use super::project::{FOLDER, HONEST, Project, plan_text};
use serde_json::json;

#[test]
fn a_plan_that_cannot_be_read_is_named_and_one_behind_a_link_is_read() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let plan = sandbox.project.join(format!("{FOLDER}/03-03-PLAN.md"));
    let refused = |why: &str| {
        let done = sandbox.run(&["run", "3", "--allow-dirty"]).exits(2);
        assert!(
            done.err.contains("03-03-PLAN.md cannot be read: ") && done.err.contains(why),
            "{}",
            done.err
        );
    };
    std::fs::remove_file(&plan).expect("it was there");
    std::fs::create_dir(&plan).expect("a folder");
    refused("it is not a plain file");
    std::fs::remove_dir(&plan).expect("the folder");
    std::os::unix::fs::symlink("nowhere.md", &plan).expect("a link");
    refused("a link to nowhere");
    std::fs::remove_file(&plan).expect("the link");
    sandbox.write(&format!("{FOLDER}/03-03-PLAN.md"), "x".repeat(2 << 20));
    refused("longer than");
    std::fs::remove_file(&plan).expect("the file");
    sandbox.file("elsewhere.md", plan_text(2, "autonomous: true", 2));
    std::os::unix::fs::symlink(sandbox.path("elsewhere.md"), &plan).expect("a link");
    sandbox.commit("a link");
    project.run(HONEST, &[]).exits(0);
    assert_eq!(sandbox.calls().len(), 8, "its two tasks were done too");
}

#[test]
fn a_configuration_that_cannot_be_read_is_not_taken_for_none() {
    let project = Project::new();
    let config = project.sandbox.project.join(".planning/config.json");
    project.sandbox.file("config.json", r#"{"loop": {"enabled": false}}"#);
    std::fs::remove_file(&config).expect("it was there");
    std::os::unix::fs::symlink(project.sandbox.path("config.json"), &config).expect("a link");
    project.sandbox.run(&["run", "3", "--allow-dirty"]).exits(2).says("loop.enabled is false");
    std::fs::remove_file(&config).expect("the link");
    std::fs::create_dir(&config).expect("a folder");
    project.sandbox.run(&["run", "3", "--allow-dirty"]).exits(2).says("config.json cannot be read");
}

/// A position in another encoding, or one that is too long, is a person's file and no missing one.
#[test]
fn a_position_that_cannot_be_read_is_left_as_it_is() {
    let project = Project::new();
    let state = project.sandbox.project.join(".planning/STATE.md");
    for bytes in [b"Phase: 3\xe9\n".to_vec(), vec![b'x'; 2 << 20]] {
        std::fs::write(&state, &bytes).expect("written");
        project.sandbox.commit("another position");
        let done = project.run(HONEST, &["--fresh"]).exits(0).says("STATE.md cannot be read: ");
        assert!(std::fs::read(&state).expect("it is there") == bytes, "not a byte was changed: {}", done.err);
    }
    let roadmap = project.sandbox.project.join(".planning/ROADMAP.md");
    std::fs::write(&roadmap, b"### Phase 3: Caf\xe9\n").expect("written");
    project
        .sandbox
        .run(&["run", "3", "--fresh"])
        .exits(2)
        .says("ROADMAP.md cannot be read: it is not UTF-8 text");
}

#[test]
fn two_folders_and_names_that_plans_do_not_have_are_told_of() {
    let project = Project::new();
    project.sandbox.write(".planning/phases/3-more/03-04-PLAN.md", plan_text(1, "a: b", 1));
    project.sandbox.commit("two folders");
    let done = project.sandbox.run(&["run", "3"]).exits(2).says("phase 3 has plans in two folders");
    assert!(done.err.contains(FOLDER) && done.err.contains("phases/3-more"), "{}", done.err);
    project.sandbox.git(&["rm", "-rq", ".planning/phases/3-more"]);
    project.sandbox.write(".planning/phases/3-more/notes.md", "no plan\n");
    project.sandbox.write(&format!("{FOLDER}/03-04-plan.md"), plan_text(1, "a: b", 1));
    project.sandbox.commit("a plan by another name");
    project.run(HONEST, &["--max", "1"]).exits(6).says("03-04-plan.md is not read as a plan");
}

/// Ids that only the plans name are asked for too.
#[test]
fn requirements_that_only_a_plan_names_have_a_row() {
    let project = Project::new();
    project
        .sandbox
        .write(&format!("{FOLDER}/03-03-PLAN.md"), plan_text(2, "requirements: [auth-01, OPS-07, soon]", 2));
    project.sandbox.commit("one more requirement");
    let script = "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) report passed 'truths:\n  - {id: AUTH-01, status: verified}\n  - {id: AUTH-02, status: verified}\n  - {id: SC-1, status: verified}\n  - {id: SC-2, status: verified}';; esac";
    let done = project.run(script, &[]).exits(4);
    assert!(done.err.contains("OPS-07"), "{}", done.err);
    let rows = project.status()["requirements"].clone();
    let ids: Vec<&str> = rows.as_array().expect("rows").iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(json!(ids), json!(["AUTH-01", "AUTH-02", "OPS-07", "SC-1", "SC-2"]));
}
