//! A database with damaged pages, at places that chance decides: every reading command says what it said
//! before, or names the damage with exit code 8 and what to do. Nobody shows the words of a parser.

use crate::scene::{BUILD, Scene, User};
use loop_harness::{SeededRandom, times};
use std::fs;

const DAMAGES: u32 = 60;
const PAGE: usize = 4096;

/// None of them says how long ago something was.
const READERS: [&[&str]; 6] =
    [&["status", "--json"], &["runs", "--json"], &["show"], &["log", "--json"], &["verify"], &["answer"]];

/// Words of libraries, which help nobody.
const RAW: [&str; 11] = [
    "panicked",
    "line 1 column",
    "Conversion error",
    "invalid type",
    "missing field",
    "unknown variant",
    "no such table",
    "no such column",
    "malformed",
    "select ",
    "Query returned no rows",
];

/// Damages files as its seed says.
struct Vandal(SeededRandom);

impl Vandal {
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.0.below(limit as u64)).expect("small")
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).expect("a byte")
    }

    /// Damages a file in one of several ways, and says how.
    fn damage(&mut self, bytes: &mut Vec<u8>) -> String {
        let at = self.below(bytes.len());
        let page = at / PAGE * PAGE;
        match self.below(6) {
            0 => {
                bytes[at] ^= 1 << self.below(8);
                format!("a bit at {at}")
            }
            1 => {
                bytes[at] = self.byte();
                format!("a byte at {at}")
            }
            2 => {
                let end = (at + 1 + self.below(64)).min(bytes.len());
                bytes[at..end].iter_mut().for_each(|it| *it = self.byte());
                format!("{at}..{end}")
            }
            3 => {
                bytes[page..page + PAGE].fill(0);
                format!("page {} is zero", page / PAGE)
            }
            4 => {
                let other = self.below(bytes.len() / PAGE) * PAGE;
                let copy = bytes[other..other + PAGE].to_vec();
                bytes[page..page + PAGE].copy_from_slice(&copy);
                format!("page {} is page {}", page / PAGE, other / PAGE)
            }
            _ => {
                bytes.truncate(at.max(1));
                format!("it ends at {at}")
            }
        }
    }
}

/// A home with a completed run and one that waits, all of it in one file.
fn home() -> Scene {
    let scene = Scene::new(User::Self_);
    scene.waits(BUILD);
    scene.act(&["approve"]).exits(0);
    scene.act(&["run"]).exits(0);
    let agent = scene.plays("echo more >> built; git add -A; git commit -q -m more\necho '```json'; echo '{\"status\":\"done\"}'; echo '```'");
    scene
        .act(&["run", "a tunnel", "--agent-cmd", &agent, "--check", "unit=test $(wc -l < built) = 1"])
        .exits(3);
    let whole = scene.path("whole.db").display().to_string();
    scene.act(&["verify", "--backup", &whole]).exits(0);
    scene
}

fn put(scene: &Scene, bytes: &[u8]) {
    for extension in ["-wal", "-shm"] {
        let _may_not_exist = fs::remove_file(scene.home.join(format!("loop.db{extension}")));
    }
    fs::write(scene.home.join("loop.db"), bytes).expect("written");
}

#[test]
fn g27_a_damaged_database_is_read_right_or_named() {
    let seed = std::env::var("LOOP_TEST_SEED").ok().and_then(|it| it.parse().ok());
    // The same places every time; the campaign takes others.
    let other = || if times() == 1 { 1 } else { u64::from(std::process::id()) * 0x9e37_79b9 + 1 };
    let seed = seed.unwrap_or_else(other);
    println!("LOOP_TEST_SEED={seed}");
    let scene = home();
    let whole = fs::read(scene.path("whole.db")).expect("a copy");
    put(&scene, &whole);
    let before = READERS.map(|it| scene.act(it).exits(0).out);
    let mut dice = Vandal(SeededRandom::new(seed));
    let (mut right, mut named) = (0, 0);
    for number in 0..DAMAGES * times() {
        let mut bytes = whole.clone();
        let how = dice.damage(&mut bytes);
        put(&scene, &bytes);
        for (words, before) in READERS.iter().zip(&before) {
            let done = scene.act(words);
            let said = format!("{}{}", done.out, done.err);
            let told = format!("seed {seed}, damage {number}, {how}, {words:?}: {} {said}", done.code);
            for raw in RAW {
                assert!(!said.contains(raw), "{told}");
            }
            match done.code {
                0 => {
                    assert_eq!(done.out, *before, "{told}");
                    right += 1;
                }
                8 => {
                    let says_what_to_do =
                        ["loop verify", "restore a backup", "move it away", "--home", "next:"];
                    assert!(says_what_to_do.iter().any(|it| said.contains(it)), "{told}");
                    named += 1;
                }
                _ => panic!("{told}"),
            }
        }
    }
    println!("{right} read right, {named} named");
    assert!(0 < right && 0 < named);
}

/// Each table is emptied while a gate waits: nobody passes it, and nobody takes the run for another.
#[test]
fn g27_an_emptied_table_is_found_at_a_waiting_gate() {
    let scene = home();
    let whole = fs::read(scene.path("whole.db")).expect("a copy");
    for table in ["event", "snapshot", "definition", "run", "question"] {
        put(&scene, &whole);
        let database = rusqlite::Connection::open(scene.home.join("loop.db")).expect("a database");
        database.execute(&format!("delete from {table}"), []).expect("emptied");
        drop(database);
        let done = scene.act(&["verify"]);
        assert_eq!(done.code, 8, "{table}: {done:?}");
        let run = scene.act(&["run"]);
        assert!(matches!(run.code, 3 | 8), "{table}: {run:?}");
        for raw in RAW {
            assert!(!format!("{done:?}{run:?}").contains(raw), "{table}: {done:?} {run:?}");
        }
        let status = scene.act(&["status", "--json"]);
        assert!(status.code == 8 || status.out.contains("\"waiting\""), "{table}: {status:?}");
    }
}
