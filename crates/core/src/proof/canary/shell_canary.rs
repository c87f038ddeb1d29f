//! Canaries of shell scripts. A check that reads the product into its own shell (`. ./prices.sh`) gives
//! it the means to bend every comparison: an alias or a function named `[`, a trap, `set +e`. So a
//! comparison that must fail is put behind the line that reads the product, in the words that the
//! script itself uses. A check that calls the product as a program needs none.

/// The script with a comparison that must fail; nothing if it reads no file that `is_product` knows by
/// its name.
pub fn shell_canary(text: &str, word: &str, is_product: &dyn Fn(&str) -> bool) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let reads = |line: &str| sourced_in(line).iter().any(|it| is_product(it));
    let is_whole = |line: &str| !["\\", "&&", "||", "|", "("].iter().any(|it| line.trim_end().ends_with(it));
    let at = lines.iter().rposition(|it| reads(it) && is_whole(it))?;
    let (before, after) = lines.split_at(at + 1);
    Some(format!("{}\n{}\n{}\n", before.join("\n"), comparison(text, word), after.join("\n")))
}

/// The command of a check with a comparison that must fail, under the same condition.
pub fn canary_command(command: &str, word: &str, is_product: &dyn Fn(&str) -> bool) -> Option<String> {
    let reads = command.lines().flat_map(sourced_in).any(|it| is_product(&it));
    reads.then(|| format!("{command}\n{}", comparison(command, word)))
}

/// Programs that compare what they are given, and that no product can bend from outside.
const COMPARING: &[&str] =
    &["[", "[[", "test", "grep", "egrep", "fgrep", "diff", "cmp", "true", "false", "!", "ls", "jq"];

/// Tells whether a command does nothing but compare files, or what a product prints: no product takes part
/// in the comparison, so there is nothing that a canary could show.
pub fn only_compares(command: &str) -> bool {
    let mut plain = command.replace("&&", "\n").replace("||", "\n").replace(';', "\n");
    // What is printed is compared; how the product ended is not asked.
    while let Some(start) = plain.find("$(") {
        let Some(end) = plain[start..].find(')') else { return false };
        plain.replace_range(start..=start + end, "x");
    }
    let judges = |line: &str| line.rsplit('|').next().map(|it| it.trim_start_matches(['!', ' ']).to_owned());
    let mut lines = plain.lines().filter(|it| !it.trim().is_empty()).filter_map(judges).peekable();
    lines.peek().is_some()
        && lines.all(|it| it.split_whitespace().next().is_some_and(|it| COMPARING.contains(&it)))
        && !plain.contains('`')
}

fn sourced_in(line: &str) -> Vec<String> {
    let line = line.trim_start();
    if line.starts_with('#') {
        return Vec::new();
    }
    let mut found = Vec::new();
    for command in line.split([';', '&', '|', '{']).flat_map(|it| it.split(" then ")).map(str::trim) {
        let command = command.strip_prefix("then ").unwrap_or(command);
        let place = ["source ", ". "].iter().find_map(|it| command.strip_prefix(it)).map(str::trim);
        // The way there may be computed, as in `"$(dirname "$0")/../prices.sh"`; the name rarely is.
        let name = place.and_then(|it| it.rsplit('/').next());
        let name = name.and_then(|it| it.split([' ', '"', '\'']).find(|it| !it.is_empty()));
        found.extend(name.map(str::to_owned));
    }
    found
}

/// Where a script ends at the first command that fails, it must end here; elsewhere it says so itself.
/// The word is printed twice either way: runners print it once, where they list what failed.
fn comparison(text: &str, word: &str) -> String {
    let has = |it: &str| text.contains(it);
    let mut all = vec![format!("[ \"{word}\" = \"\" ]"), format!("test \"{word}\" = \"\"")];
    if has("[[") {
        all.push(format!("[[ \"{word}\" == \"\" ]]"));
    }
    if has("grep") {
        all.push(format!("printf '%s\\n' \"{word}\" | grep -q '^$'"));
    }
    if has("diff") {
        all.push(format!("printf '%s\\n' \"{word}\" | diff - /dev/null >/dev/null"));
    }
    if has("cmp") {
        all.push(format!("printf '%s\\n' \"{word}\" | cmp -s - /dev/null"));
    }
    let any = all.join(" || ");
    let ends_by_itself = text.lines().any(|it| it.trim_start().starts_with("set -") && it.contains('e'));
    match ends_by_itself {
        true => format!("echo {word} {word}\n{any}"),
        false => format!("if {any}; then :; else echo {word} {word}; exit 1; fi"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stands_behind_the_line_that_reads_the_product() {
        let is_product = |it: &str| it == "prices.sh";
        let text =
            ". tests/lib.sh\nif true; then . \"$(dirname \"$0\")/../prices.sh\"; fi\n[ $(total 1) = 1 ]\n";
        let planted = shell_canary(text, "kq7x2", &is_product).expect("a canary");
        let lines: Vec<&str> = planted.lines().collect();
        assert!(lines[2].contains("[ \"kq7x2\" = \"\" ]") && lines[2].ends_with("exit 1; fi"), "{planted}");
        assert_eq!(lines[3], "[ $(total 1) = 1 ]");
        let strict = shell_canary("set -eu\nsource ./prices.sh\n", "kq7x2", &is_product).expect("a canary");
        assert!(strict.contains("\necho kq7x2 kq7x2\n[ "), "{strict}");
        assert_eq!(shell_canary(". tests/lib.sh\nsh prices.sh\n# . prices.sh\n", "kq7x2", &is_product), None);
    }

    #[test]
    fn a_comparison_of_what_is_printed_needs_none() {
        for command in
            ["[ \"$(sh add.sh 2 3)\" = 5 ]", "sh add.sh 2 | grep -q 5 && test -f x", "! grep -r TODO src"]
        {
            assert!(only_compares(command), "{command}");
        }
        for command in ["make test", "test -f x && sh check.sh", "python3 check.py | tee log", ""] {
            assert!(!only_compares(command), "{command}");
        }
    }

    #[test]
    fn a_command_gets_one_of_its_own() {
        let is_product = |it: &str| it == "prices.sh";
        let planted = canary_command(". ./prices.sh && [ $(total 1) = 1 ]", "kq7x2", &is_product);
        assert!(planted.expect("a canary").starts_with(". ./prices.sh && [ $(total 1) = 1 ]\nif [ "));
        assert_eq!(canary_command("sh ./prices.sh", "kq7x2", &is_product), None);
    }
}
