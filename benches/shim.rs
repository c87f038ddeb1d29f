//! What the shim costs, against the same programs started directly. It judges nothing.
//!
//!     cargo bench --bench shim

use loop_harness::zoo::{BOUNDS, Bounds, Order, Zoo, order, zoo_program};
use std::fs;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

fn main() {
    what_a_call_costs();
}

/// The floor is the same program started directly, with its output read from a pipe into a file.
fn what_a_call_costs() {
    const CALLS: u32 = 500;
    let mut zoo = Zoo::open();
    for round in 0..3 {
        let floor = Instant::now();
        for number in 0..CALLS {
            let mut command = Command::new(zoo_program());
            command.args(["exits", "0"]).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().expect("started");
            // It may be gone before it could read.
            let _ = child.stdin.take().expect("a pipe").write_all(b"do it\n");
            let mut output = Vec::new();
            io::Read::read_to_end(&mut child.stdout.take().expect("a pipe"), &mut output).expect("read");
            fs::write(zoo.cage.path().join(format!("out-{round}-{number}")), output).expect("written");
            child.wait().expect("collected");
        }
        let floor = floor.elapsed() / CALLS;
        let shim = Instant::now();
        for number in 0..CALLS {
            let stem = format!("call-{round}-{number}");
            let order = order(zoo.cage.path(), &stem, &["exits", "0"]);
            assert_eq!(zoo.run(order).code, Some(0));
        }
        println!("a call: floor {floor:?}, through the shim {:?}", shim.elapsed() / CALLS);
    }
    let whole = Bounds { out_bytes: u64::MAX, ..BOUNDS };
    for stem in ["call-1", "call-2"] {
        let bytes = 1 << 30;
        let started = Instant::now();
        let mut child = Command::new(zoo_program())
            .args(["floods", &bytes.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut pipe = child.stdout.take().expect("a pipe");
        let _ = rustix::pipe::fcntl_setpipe_size(&pipe, 256 * 1024);
        let mut file = fs::File::create(zoo.cage.path().join("flood")).expect("a file");
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let count = io::Read::read(&mut pipe, &mut buffer).expect("read");
            if count == 0 {
                break;
            }
            file.write_all(&buffer[..count]).expect("written");
        }
        child.wait().expect("collected");
        let floor = started.elapsed();
        fs::remove_file(zoo.cage.path().join("flood")).expect("removed");
        let started = Instant::now();
        let flood = order(zoo.cage.path(), stem, &["floods", &bytes.to_string()]);
        let ending = zoo.run(Order { bounds: whole, ..flood });
        let shim = started.elapsed();
        assert_eq!((ending.out_bytes, ending.cut), (bytes + 8, false));
        fs::remove_file(zoo.run.path().join(format!("{stem}.out"))).expect("removed");
        println!("1 GiB: floor {floor:?}, through the shim {shim:?}, peak {} kB", zoo.shim_status("VmHWM"));
    }
}
