//! Diagnostic output for developers, behind `LOOP_LOG`: a level, or a level and a file, as `debug` or
//! `trace,/tmp/loop.log`. Without the variable nothing is installed, and what the program would say
//! costs one look at a number. It goes to standard error or into the file, without any secret that
//! this process knows. Nothing in the program depends on it; what people need to know is said elsewhere.

use loop_base::secret::redact;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;

const VARIABLE: &str = "LOOP_LOG";

/// Installs what the variable asks for; a value that says nothing is named on standard error.
pub(crate) fn install() {
    let Ok(value) = std::env::var(VARIABLE) else { return };
    let (level, file) = match value.split_once(',') {
        Some((level, file)) => (level, Some(PathBuf::from(file))),
        None => (value.as_str(), None),
    };
    if matches!(level.trim(), "" | "off") {
        return;
    }
    let Ok(level) = level.trim().parse::<Level>() else {
        let text = format!("loop: {VARIABLE}={value}: one of off, error, warn, info, debug, trace\n");
        let _nobody_reads = io::stderr().write_all(redact(&text).as_bytes());
        return;
    };
    let subscriber = tracing_subscriber::fmt().with_max_level(level).with_ansi(false);
    // A second one in the same process cannot be, and would say the same.
    let _installed_before = subscriber.with_writer(Lines { file }).try_init();
}

/// Where lines go.
struct Lines {
    file: Option<PathBuf>,
}

/// One line, which is written as a whole when it is complete.
struct DiagnosticLine {
    text: Vec<u8>,
    file: Option<PathBuf>,
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = DiagnosticLine;

    fn make_writer(&'a self) -> DiagnosticLine {
        DiagnosticLine { text: Vec::new(), file: self.file.clone() }
    }
}

impl Write for DiagnosticLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for DiagnosticLine {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.text);
        let text = redact(&text);
        // Several processes of one run append to one file, each a line at a time.
        let written = match &self.file {
            Some(path) => File::options()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(path)
                .and_then(|mut it| it.write_all(text.as_bytes())),
            None => io::stderr().write_all(text.as_bytes()),
        };
        // Diagnostics never stop the work.
        let _nobody_reads = written;
    }
}
