//! What an agent changed for the systems that come after it: it is found whoever lives, and nothing begins until a person
//! has looked.

use crate::domain::{Domain, system};

fn two() -> Domain {
    Domain::new(&[system("sys-001", 1, &[]), system("sys-002", 2, &[])])
}

/// What there was when a call began is known to whoever finds its end: nobody has to live for that.
#[test]
fn rules_that_are_changed_while_nobody_watches_the_agent_hold_back_what_has_not_begun() {
    let edits = [
        (
            "sed -i 's/^mode .*/mode = \"supervised\"/' ROOT/.loop/workflow.toml",
            "the workflow file was changed while an agent worked: mode",
        ),
        (
            "sed -i 's/\"id\": *\"sys-002\"/\"autonomy\":{\"mode\":\"autonomous\"},&/' ROOT/domain-memory/shop/system-queue.json",
            "the gates of sys-002 were changed in system-queue.json while an agent worked",
        ),
    ];
    for (edit, words) in edits {
        let domain = two();
        let sandbox = &domain.sandbox;
        let go = domain.held("sys-001");
        let edit = edit.replace("ROOT", &sandbox.project.display().to_string());
        let agent = domain.agent(&format!("[ $LOOP_PHASE$id = BUILDsys-001 ] && {edit}; honest"));
        let words_of = |id: &'static str| ["run", id, "--agent-cmd", agent.as_str()];
        let controller = sandbox.spawn(&words_of("sys-001"));
        assert_eq!(domain.hear(), "sys-001");
        controller.kill();
        go.say();
        sandbox.run(&words_of("sys-001")).exits(0).says(words);
        sandbox.run(&words_of("sys-002")).exits(3).says(words).says("loop queue accept");
        sandbox.run(&["queue", "accept"]).exits(0).says(words);
        // What was accepted is what the next call begins with.
        sandbox.run(&["queue", "accept"]).exits(0).says("nothing holds back the systems of shop");
    }
}

/// Whether something holds them back is not guessed.
#[test]
fn what_holds_back_a_queue_is_refused_by_name_where_it_cannot_be_read() {
    let domain = two();
    let sandbox = &domain.sandbox;
    let agent = domain.agent(&format!(
        "sed -i 's/^mode .*/mode = \"supervised\"/' {}/.loop/workflow.toml; honest",
        sandbox.project.display()
    ));
    sandbox.run(&["run", "sys-001", "--agent-cmd", &agent]).exits(0);
    sandbox.run(&["run", "sys-002", "--agent-cmd", &agent]).exits(3).says("loop queue accept");
    let held = sandbox.contents(&sandbox.home).into_iter().map(|it| it.0);
    let held = held.filter(|it| it.extension().is_some_and(|it| it == "held")).collect::<Vec<_>>();
    let [file] = held.as_slice() else { panic!("{held:?}") };
    std::fs::write(file, b"\xff\xfe").expect("written");
    for words in [&["run", "sys-002", "--agent-cmd", &agent][..], &["queue", "accept"]] {
        sandbox.run(words).exits(3).says("cannot be read").says(&file.display().to_string());
    }
    sandbox.run(&["queue"]).exits(0).says("cannot be read");
    assert_eq!(domain.built(), ["sys-001"]);
    std::fs::remove_file(file).expect("removed");
    sandbox.run(&["queue", "accept"]).exits(0).says("nothing holds back the systems of shop");
}
