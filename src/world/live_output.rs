//! What an agent is doing at the moment, for a person who looks on: the end of its output, read as
//! it grows. Nothing is decided by it, and without an onlooker nothing of it runs.

use loop_core::agent_table::AgentRow;
use loop_core::agents::StreamReader;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Twice a second is as fast as anybody reads.
pub(crate) const EVERY: Duration = Duration::from_millis(500);

/// An output that grows faster than this for each look is shown late, not lost.
const BYTES_PER_LOOK: u64 = 8 << 20;

pub(crate) struct Glance {
    file: Option<File>,
    reader: StreamReader,
}

impl Glance {
    pub(crate) fn at(output: &Path, agent: &'static AgentRow) -> Glance {
        Glance { file: loop_base::files::open(output).ok(), reader: StreamReader::new(agent) }
    }

    /// Reads on and returns what the agent is doing, where that can be said.
    pub(crate) fn look(&mut self) -> Option<String> {
        let mut chunk = vec![0; 64 << 10];
        let mut output = self.file.as_mut()?.take(BYTES_PER_LOOK);
        while let Ok(count @ 1..) = output.read(&mut chunk) {
            self.reader.bytes(&chunk[..count]);
        }
        self.reader.activity()
    }
}
