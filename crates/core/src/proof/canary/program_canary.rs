//! Canaries of programs that are a check by themselves: `./t` behind `make test`, `python3 check.py`, `node
//! check.js`, `sh check.sh`. Such a program has no tests with names; it fails by its exit code. A statement that
//! must fail is put at its end and wherever it ends itself with success, because code under test that ends the
//! process with 0 does not get there; and where the
//! program failed before the run began, and so did not get there either, a second one at its beginning
//! shows that this program runs and that its failure is reported.

use super::assertions;

/// A program with a statement that must fail, as whole texts of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCanary {
    pub path: String,
    /// The word that is printed before the statement fails.
    pub word: String,
    pub at_beginning: String,
    pub at_end: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgramLanguage {
    C,
    Python,
    JavaScript,
    Shell,
}

/// Returns the canary of a program; nothing if it is none, or is written in another language.
pub fn program_canary(path: &str, text: &str, word: &str) -> Option<ProgramCanary> {
    let (at_beginning, at_end) = match language_of(path)? {
        ProgramLanguage::C => c_program(text, word)?,
        ProgramLanguage::Python => python_program(text, word)?,
        ProgramLanguage::JavaScript => javascript_program(path, text, word)?,
        ProgramLanguage::Shell => shell_program(text, word)?,
    };
    Some(ProgramCanary { path: path.to_owned(), word: word.to_owned(), at_beginning, at_end })
}

/// Tells whether a check reported the failure of a program's canary.
pub fn is_printed(output: &str, word: &str) -> bool {
    let line = format!("{word} {word}");
    output.lines().any(|it| it.trim_end().ends_with(&line))
}

fn language_of(path: &str) -> Option<ProgramLanguage> {
    match path.rsplit_once('.')?.1 {
        "c" | "cc" | "cpp" | "cxx" => Some(ProgramLanguage::C),
        "py" => Some(ProgramLanguage::Python),
        "js" | "mjs" | "cjs" => Some(ProgramLanguage::JavaScript),
        "sh" | "bash" => Some(ProgramLanguage::Shell),
        _ => None,
    }
}

/// A C or C++ file with a `main`: before the last `return` of its body, whose value is computed first, because
/// it may be what runs the tests.
fn c_program(text: &str, word: &str) -> Option<(String, String)> {
    let body = main_body(text)?;
    let fails = match text.contains("assert(") {
        // Of a constant the compiler would know that nothing comes after it.
        true => format!("volatile int {word}_ok = 0; assert({word}_ok);"),
        false => "exit(1);".to_owned(),
    };
    let guards = comparison_guards(text);
    let canary = format!(" {{ {guards}fputs(\"{word} {word}\\n\", stderr); fflush(stderr); {fails} }} ");
    let needs = "\n#include <stdio.h>\n#include <stdlib.h>\n";
    // Before the line of `main`, because settings such as `_GNU_SOURCE` must stand before any header.
    let (head, rest) = text.split_at(body.line);
    let inner = &text[body.start..body.end];
    let up_to = &rest[..body.start - body.line];
    let after = &text[body.end..];
    let first = format!("{head}{needs}{up_to}{canary}{inner}{after}");
    let ended = match last_return(inner) {
        Some((at, value)) => {
            let end = inner[at..].find(';').map_or(inner.len(), |it| at + it + 1);
            let value = if value.is_empty() { "0" } else { value };
            format!(
                "{}{{ int {word}_code = (int)({value});{canary}return {word}_code; }}{}",
                before_success(&inner[..at], &canary),
                &inner[end..]
            )
        }
        None => format!("{}{canary}", before_success(inner, &canary)),
    };
    Some((first, format!("{head}{needs}{up_to}{ended}{after}")))
}

/// Ends a program before its canary says anything where a comparison that it uses finds everything equal: a
/// header of the product can redefine them all.
fn comparison_guards(text: &str) -> String {
    const DIFFERENT: [(&str, &str); 5] = [
        ("strcmp", "strcmp(\"a\", \"b\") == 0"),
        ("strncmp", "strncmp(\"a\", \"b\", 1) == 0"),
        ("strcasecmp", "strcasecmp(\"a\", \"b\") == 0"),
        ("memcmp", "memcmp(\"a\", \"b\", 1) == 0"),
        ("strstr", "strstr(\"a\", \"b\") != 0"),
    ];
    let code = c_code_only(text);
    let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
    let calls = |name: &str| {
        let call = format!("{name}(");
        code.match_indices(&call).any(|(at, _)| !code[..at].ends_with(is_part))
    };
    // `_Exit`, because every `exit(0)` of the body gets a canary of its own.
    let used = DIFFERENT.iter().filter(|(name, _)| calls(name));
    used.map(|(_, is_equal)| format!("if ({is_equal}) _Exit(0); ")).collect()
}

/// Puts the canary before every `return` of a body by which the program says that all is well.
fn before_success(body: &str, canary: &str) -> String {
    let early = |text: String, it: &str| text.replace(it, &format!("{{{canary}{it} }}"));
    ["return 0;", "return EXIT_SUCCESS;", "exit(0);", "exit(EXIT_SUCCESS);"]
        .into_iter()
        .fold(body.to_owned(), early)
}

/// Where the body of `main` stands.
struct MainBody {
    /// The beginning of the line of `main`.
    line: usize,
    /// Behind its opening brace, and at its closing one.
    start: usize,
    end: usize,
}

fn main_body(text: &str) -> Option<MainBody> {
    let code = c_code_only(text);
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let at = code.match_indices("main").map(|(at, _)| at).find(|at| {
        let before = code[..*at].chars().next_back();
        let depth = code[..*at].matches('{').count().wrapping_sub(code[..*at].matches('}').count());
        !before.is_some_and(is_part) && depth == 0 && code[at + 4..].trim_start().starts_with('(')
    })?;
    let start = at + code[at..].find('{')? + 1;
    if code[at..start].contains(';') {
        return None;
    }
    let mut depth = 1;
    let end = code[start..].char_indices().find_map(|(offset, it)| {
        match it {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(start + offset)
    })?;
    Some(MainBody { line: text[..at].rfind('\n').map_or(0, |it| it + 1), start, end })
}

/// The place and the value of the `return` that ends a body.
fn last_return(body: &str) -> Option<(usize, &str)> {
    let code = c_code_only(body);
    let statement = code.trim_end().strip_suffix(';')?;
    let begin = statement.rfind([';', '{', '}']).map_or(0, |it| it + 1);
    let word = statement[begin..].trim_start();
    let at = statement.len() - word.len();
    let value = word.strip_prefix("return")?;
    if value.starts_with(|it: char| it.is_alphanumeric() || it == '_') {
        return None;
    }
    Some((at, body[at + "return".len()..statement.len()].trim()))
}

/// The text with blanks in place of comments, strings and characters, so that every place stays as it is.
fn c_code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                text[at..].find('\n').map_or(bytes.len(), |it| at + it)
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                text[at + 2..].find("*/").map_or(bytes.len(), |it| at + it + 4)
            }
            quote @ (b'"' | b'\'') => end_of_quoted(bytes, at + 1, quote),
            _ => {
                at += 1;
                continue;
            }
        };
        code[at..end].fill(b' ');
        at = end;
    }
    String::from_utf8_lossy(&code).into_owned()
}

fn end_of_quoted(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            it if it == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A Python script that asserts or exits: before its last statement if that exits, else behind everything.
fn python_program(text: &str, word: &str) -> Option<(String, String)> {
    let asserts = text.lines().any(|it| it.trim_start().starts_with("assert "));
    let exits = text.contains("sys.exit(") || text.contains("SystemExit") || text.contains("raise ");
    if !asserts && !exits {
        return None;
    }
    let fails = match asserts {
        true => format!("assert \"{word}\" == \"\""),
        false => format!("__import__(\"sys\").exit(\"{word}\")"),
    };
    let canary = |indent: &str| format!("{indent}print(\"{word} {word}\", flush=True)\n{indent}{fails}\n");
    let lines: Vec<&str> = text.lines().collect();
    let is_above = |it: &&str| {
        let it = it.trim_start();
        it.starts_with("#!") || it.starts_with("# -*-") || it.starts_with("from __future__")
    };
    let beginning = lines.iter().rposition(is_above).map_or(0, |it| it + 1);
    let joined = |lines: &[&str]| lines.iter().map(|it| format!("{it}\n")).collect::<String>();
    let at_beginning =
        format!("{}{}{}", joined(&lines[..beginning]), canary(""), joined(&lines[beginning..]));
    let ended = |lines: &[&str]| {
        let line = |it: &&str| {
            let indent = &it[..it.len() - it.trim_start().len()];
            match matches!(it.trim(), "sys.exit(0)" | "sys.exit()" | "exit(0)" | "raise SystemExit(0)") {
                true => format!("{}{it}\n", canary(indent)),
                false => format!("{it}\n"),
            }
        };
        lines.iter().map(line).collect::<String>()
    };
    let last = lines.iter().rposition(|it| !it.trim().is_empty() && !it.trim_start().starts_with('#'))?;
    let line = lines[last];
    let indent = &line[..line.len() - line.trim_start().len()];
    let exit =
        ["sys.exit(", "exit(", "raise SystemExit("].iter().find(|it| line.trim_start().starts_with(**it));
    let value = exit.and_then(|it| line.trim().strip_prefix(it)?.strip_suffix(')'));
    let at_end = match (exit, value) {
        // What is handed over may be what runs the tests.
        (Some(exit), Some(value)) => {
            let value = if value.is_empty() { "0" } else { value };
            let ending =
                format!("{indent}{word}_code = ({value})\n{}{indent}{exit}{word}_code)\n", canary(indent));
            format!("{}{ending}{}", ended(&lines[..last]), joined(&lines[last + 1..]))
        }
        (Some(_), None) => return None,
        (None, _) => format!("{}{}", ended(&lines), canary("")),
    };
    Some((at_beginning, at_end))
}

/// A script of node that asserts or exits: before a last line that exits, else behind everything.
fn javascript_program(path: &str, text: &str, word: &str) -> Option<(String, String)> {
    let asserts = text.contains("assert");
    if !asserts && !text.contains("process.exit") && !text.contains("throw ") {
        return None;
    }
    let has_import = text.lines().any(|it| it.starts_with("import ") || it.starts_with("import{"));
    let is_module = has_import || path.ends_with(".mjs");
    let module = assertions::node_module(text);
    let fails = match (asserts, is_module) {
        (true, true) => format!("import assert_{word} from '{module}';\nassert_{word}.ok('');"),
        (true, false) => format!("require('{module}').ok('');"),
        (false, _) => "process.exit(1);".to_owned(),
    };
    let canary = format!("console.error('{word} {word}');\n{fails}\n");
    let lines: Vec<&str> = text.lines().collect();
    let is_above = |it: &&str| it.starts_with("#!") || it.contains("use strict");
    let beginning = lines.iter().take(5).rposition(is_above).map_or(0, |it| it + 1);
    let joined = |lines: &[&str]| lines.iter().map(|it| format!("{it}\n")).collect::<String>();
    let at_beginning = format!("{}{canary}{}", joined(&lines[..beginning]), joined(&lines[beginning..]));
    let early = format!("(console.error('{word} {word}'), process.exit(1))");
    let ended = |lines: &[&str]| joined(lines).replace("process.exit(0)", &early);
    let last = lines.iter().rposition(|it| exit_value(it).is_some());
    let at_end = match last.map(|at| (at, exit_value(lines[at]).unwrap_or_default())) {
        Some((at, value)) => {
            let value = if value.is_empty() { "0" } else { value };
            let ending = format!("const {word}_code = ({value});\n{canary}process.exit({word}_code);\n");
            format!("{}{ending}{}", ended(&lines[..at]), joined(&lines[at + 1..]))
        }
        None => format!("{}{canary}", ended(&lines)),
    };
    Some((at_beginning, at_end))
}

/// A shell script: before a last line that exits, else behind everything. One that becomes another program
/// has no end of its own.
fn shell_program(text: &str, word: &str) -> Option<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().rposition(|it| !it.trim().is_empty() && !it.trim_start().starts_with('#'))?;
    if lines.iter().any(|it| it.trim_start().starts_with("exec ")) {
        return None;
    }
    let canary = format!("echo '{word} {word}'; exit 1\n");
    let joined = |lines: &[&str]| lines.iter().map(|it| format!("{it}\n")).collect::<String>();
    let beginning = usize::from(text.starts_with("#!"));
    let at_beginning = format!("{}{canary}{}", joined(&lines[..beginning]), joined(&lines[beginning..]));
    let ended =
        |lines: &[&str]| joined(lines).replace("exit 0", &format!("{{ echo '{word} {word}'; exit 1; }}"));
    let end = if lines[last].starts_with("exit") { last } else { lines.len() };
    Some((at_beginning, format!("{}{canary}{}", ended(&lines[..end]), joined(&lines[end..]))))
}

/// What a line hands to `process.exit`.
fn exit_value(line: &str) -> Option<&str> {
    line.strip_prefix("process.exit(")?.trim_end().trim_end_matches(';').strip_suffix(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(path: &str, text: &str) -> String {
        program_canary(path, text, "kq7x2").expect("a program").at_end
    }

    #[test]
    fn a_c_program_computes_what_it_returns_before_it_must_fail() {
        let text = "#include <assert.h>\nint add(int, int);\nint main(void) { assert(add(1, 1) == 2); /* } */ return run('}'); }\n";
        let planted = ends("t.c", text);
        let code = "{ int kq7x2_code = (int)(run('}')); { fputs(\"kq7x2 kq7x2\\n\", stderr);";
        assert!(planted.contains(code), "{planted}");
        assert!(planted.contains("int add(int, int);\n\n#include <stdio.h>"), "{planted}");
        let first = program_canary("t.c", text, "kq7x2").expect("a program").at_beginning;
        assert!(first.contains("int main(void) { { fputs("), "{first}");
    }

    #[test]
    fn a_c_program_without_a_return_must_fail_at_its_end() {
        let planted = ends("t.cpp", "int main() {\n  if (add(1) != 2) return 1;\n  puts(\"ok\");\n}\n");
        assert!(
            planted.contains("puts(\"ok\");\n { fputs(") && planted.contains("exit(1); } }"),
            "{planted}"
        );
        assert_eq!(program_canary("t.c", "int main(void);\nint domain(void) { return 1; }\n", "kq7x2"), None);
    }

    #[test]
    fn a_c_program_says_nothing_where_its_comparisons_are_redefined() {
        let text = "#include <string.h>\nint main(void) { if (strcmp(name(), \"a\") != 0) exit(0); my_memcmp(1); return 0; }\n";
        let planted = ends("t.c", text);
        let guarded = "{ if (strcmp(\"a\", \"b\") == 0) _Exit(0); fputs(\"kq7x2 kq7x2\\n\", stderr);";
        assert!(planted.contains(guarded) && !planted.contains("if (memcmp("), "{planted}");
    }

    #[test]
    fn a_program_that_ends_itself_early_must_fail_there() {
        let planted = ends("t.c", "int main() { if (fine()) return 0; puts(\"no\"); return 1; }\n");
        assert!(
            planted.contains("if (fine()) { { fputs(") && planted.contains("exit(1); } return 0; }"),
            "{planted}"
        );
        let planted = ends("check.py", "import sys\nif fine():\n    sys.exit(0)\nsys.exit(1)\n");
        assert!(planted.contains("if fine():\n    print(\"kq7x2 kq7x2\", flush=True)\n"), "{planted}");
        let planted = ends("check.sh", "#!/bin/sh\n[ \"$(./add 1)\" = 2 ] && exit 0\necho wrong\nexit 1\n");
        assert!(
            planted.contains(
                "&& { echo 'kq7x2 kq7x2'; exit 1; }\necho wrong\necho 'kq7x2 kq7x2'; exit 1\nexit 1"
            )
        );
        assert_eq!(program_canary("check.sh", "exec python3 -m unittest\n", "kq7x2"), None);
    }

    #[test]
    fn a_python_program_must_fail_at_its_end() {
        let planted = ends("check.py", "from calc import add\nassert add(1, 1) == 2\nprint('ok')\n");
        assert!(
            planted.ends_with("print('ok')\nprint(\"kq7x2 kq7x2\", flush=True)\nassert \"kq7x2\" == \"\"\n")
        );
        let text =
            "import sys\n\ndef main():\n    return 0\n\nif __name__ == '__main__':\n    sys.exit(main())\n";
        let planted = ends("check.py", text);
        let end = "    kq7x2_code = (main())\n    print(\"kq7x2 kq7x2\", flush=True)\n    __import__(\"sys\").exit(\"kq7x2\")\n    sys.exit(kq7x2_code)\n";
        assert!(planted.ends_with(end), "{planted}");
        assert_eq!(program_canary("data.py", "x = 1\n", "kq7x2"), None);
    }

    #[test]
    fn a_script_of_node_must_fail_at_its_end() {
        let planted = ends("check.js", "const assert = require('assert');\nassert.ok(add(1));\n");
        assert!(planted.ends_with("console.error('kq7x2 kq7x2');\nrequire('assert').ok('');\n"), "{planted}");
        let planted =
            ends("check.mjs", "import { add } from './calc.mjs';\nprocess.exit(add(1) === 2 ? 0 : 1);\n");
        let end =
            "const kq7x2_code = (add(1) === 2 ? 0 : 1);\nconsole.error('kq7x2 kq7x2');\nprocess.exit(1);\n";
        assert!(planted.contains(end), "{planted}");
    }
}
