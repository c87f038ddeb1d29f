//! G1: a controller that is killed at any moment loses nothing that it had acknowledged.

use super::*;
use std::io::{BufRead, BufReader, Write};

const ROUNDS: u64 = 25;

#[test]
fn g01_kill_at_random_moments_loses_no_acknowledged_event() {
    if let Some(home) = given_home() {
        commit_until_killed(&home);
    }
    let seed = std::env::var("STORE_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0x5eed_u64);
    println!("STORE_TEST_SEED={seed}");
    let place = place();
    let mut random = seed;
    for round in 0..ROUNDS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let acks_wanted = (random >> 33) % 30;
        let spins = (random >> 40) % 200_000;
        let mut controller =
            child("crash::g01_kill_at_random_moments_loses_no_acknowledged_event", &place.path())
                .spawn()
                .unwrap();
        let mut acked = 0;
        let mut lines = BufReader::new(controller.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut seen = 0;
        while seen < acks_wanted {
            let line = lines.next().expect("the child goes on until it is killed");
            if let Some((_, seq)) = line.split_once("ack ") {
                acked = seq.parse().unwrap();
                seen += 1;
            }
        }
        // An ack arrives between two commits; spinning moves the kill into the following ones.
        (0..spins).for_each(|spin| {
            std::hint::black_box(spin);
        });
        controller.kill().unwrap();
        for line in lines {
            // A line may be cut by the kill, but then it has no end, and `ack 12` for `ack 123` is
            // still a number that was reached.
            if let Some((_, seq)) = line.split_once("ack ") {
                acked = acked.max(seq.parse().unwrap_or(0));
            }
        }
        controller.wait().unwrap();

        let opened = Journal::open(&place.home, RUN).unwrap();
        let seq = opened.journal.seq();
        assert!(seq >= acked, "round {round}: {acked} was acknowledged, {seq} is there");
        assert_eq!(opened.tail, []);
        let state = if seq == 0 { None } else { Some(format!("{{\"seq\":{seq}}}")) };
        assert_eq!(opened.state, state, "the snapshot and its events are of one commit");
        assert_eq!(place.home.verify(RUN).unwrap(), JournalVerdict::Whole { events: seq });
    }
}

/// What the test does in the processes that it starts.
fn commit_until_killed(path: &Path) -> ! {
    let home = Home::open(path).unwrap();
    let mut journal = Journal::open(&home, RUN).unwrap().journal;
    loop {
        for _ in 0..=journal.seq() % 3 {
            journal.append(1, "judged", "{\"some\":\"body\"}");
        }
        let seq = journal.seq();
        journal.commit(&home, &commit(&format!("{{\"seq\":{seq}}}"))).unwrap();
        println!("ack {seq}");
        std::io::stdout().flush().unwrap();
    }
}
