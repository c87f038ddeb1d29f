//! Programs that run what others wrote, by the names that people type. Of a command that begins with one of them,
//! the next words say what it is about.

/// Shells: what they run may be a file or a text.
pub const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// Interpreters: what they run is a file, a module or a text.
pub const INTERPRETERS: [&str; 11] =
    ["python", "python3", "node", "ruby", "perl", "php", "deno", "bun", "tsx", "ts-node", "lua"];
