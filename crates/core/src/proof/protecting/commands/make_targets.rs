//! What `make` is asked for by the checks: the targets that a goal leads to, and the files that their rules
//! name. A file or a folder that has the name of a target makes its recipe run no more, and a rule names the
//! test programs that no folder and no file name would tell.

use super::make_variables::MakeVariables;
use std::collections::{BTreeMap, BTreeSet};

/// A makefile that calls make again in a folder, which does so again, and so on.
const DEPTH_LIMIT: usize = 4;

/// What the goals of all checks lead to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MakeReach {
    /// Paths of targets that are not declared as phony.
    pub(crate) targets: BTreeSet<String>,
    /// Words of prerequisites and recipes, as paths; many of them are no files.
    pub(crate) named: BTreeSet<String>,
    /// Names of objects and programs among them, without their folders and ends.
    built: BTreeSet<String>,
    /// Rules that take every source of a folder.
    takes_all_sources: bool,
}

impl MakeReach {
    /// Tells whether a rule is about this source: it names the source, or an object or a program of its name,
    /// which make knows how to build from it.
    pub(crate) fn names_source(&self, path: &str) -> bool {
        self.takes_all_sources || self.named.contains(path) || self.built.contains(stem(path))
    }
}

fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('.').map_or(file, |it| it.0)
}

/// Follows the goals of these commands; `text` reads a file of the baseline.
pub(crate) fn reached(commands: &[String], text: &dyn Fn(&str) -> Option<String>) -> MakeReach {
    let mut reach = MakeReach::default();
    for command in commands.iter().flat_map(|it| it.lines()) {
        follow(command, "", text, &mut reach, 0);
    }
    let is_built = |it: &&String| {
        let file = it.rsplit('/').next().unwrap_or(it);
        !file.contains('.') || file.ends_with(".o") || file.ends_with(".obj")
    };
    reach.built = reach.named.iter().filter(is_built).map(|it| stem(it).to_owned()).collect();
    reach
}

fn follow(
    line: &str,
    folder: &str,
    text: &dyn Fn(&str) -> Option<String>,
    reach: &mut MakeReach,
    depth: usize,
) {
    reach.named.extend(words_of(line).filter_map(|it| joined(folder, it)));
    reach.takes_all_sources |= words_of(line).any(takes_all_sources);
    if depth == DEPTH_LIMIT {
        return;
    }
    for command in line.split([';', '&', '|', '\n']) {
        let words: Vec<&str> = command.split_whitespace().map(|it| it.trim_matches(['"', '\''])).collect();
        let is_make = |it: &&str| {
            matches!(it.trim_start_matches(['@', '-', '+']), "make" | "gmake" | "$(MAKE)" | "${MAKE}")
        };
        let Some(at) = words.iter().position(is_make) else { continue };
        let call = MakeCall::read(&words[at + 1..], folder);
        let Some(makefile) = call.makefile(text) else { continue };
        let rules = Rules::read(&makefile);
        let goals = if call.goals.is_empty() { rules.first.iter().cloned().collect() } else { call.goals };
        let mut open: Vec<String> = goals;
        let mut done = BTreeSet::new();
        while let Some(target) = open.pop() {
            let Some(rule) = rules.of.get(&target).filter(|_| done.insert(target.clone())) else { continue };
            if !rules.phony.contains(&target) {
                reach.targets.extend(joined(&call.folder, &target));
            }
            reach.named.extend(rule.prerequisites.iter().filter_map(|it| joined(&call.folder, it)));
            reach.takes_all_sources |= rule.prerequisites.iter().any(|it| takes_all_sources(it));
            open.extend(rule.prerequisites.iter().cloned());
            for line in &rule.recipe {
                follow(line, &call.folder, text, reach, depth + 1);
            }
        }
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_separator).filter(|it| !it.is_empty())
}

/// `*.c`
fn takes_all_sources(word: &str) -> bool {
    word.contains('*') && [".c", ".cc", ".cpp", ".cxx"].iter().any(|it| word.ends_with(it))
}

fn is_separator(it: char) -> bool {
    it.is_whitespace() || "\"'`;|&()<>=,@".contains(it)
}

/// One call of make.
struct MakeCall {
    folder: String,
    file: Option<String>,
    goals: Vec<String>,
}

impl MakeCall {
    fn read(words: &[&str], folder: &str) -> MakeCall {
        let mut call = MakeCall { folder: folder.to_owned(), file: None, goals: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "-C" | "--directory" => {
                    call.folder = words.next().and_then(|it| joined(&call.folder, it)).unwrap_or_default();
                }
                "-f" | "--file" | "--makefile" => call.file = words.next().map(|it| (*it).to_owned()),
                it if it.starts_with("-C") => {
                    call.folder = joined(&call.folder, &it[2..]).unwrap_or_default()
                }
                it if it.starts_with('-') || it.contains(['=', '$', '>', '<']) => {}
                it => call.goals.push(it.to_owned()),
            }
        }
        call
    }

    fn makefile(&self, text: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let read = |name: &str| text(&joined(&self.folder, name)?);
        match &self.file {
            Some(file) => read(file),
            None => ["GNUmakefile", "makefile", "Makefile"].iter().find_map(|it| read(it)),
        }
    }
}

#[derive(Default)]
struct Rule {
    prerequisites: Vec<String>,
    recipe: Vec<String>,
}

#[derive(Default)]
struct Rules {
    of: BTreeMap<String, Rule>,
    phony: BTreeSet<String>,
    /// The target that make takes where none is named.
    first: Option<String>,
}

impl Rules {
    fn read(makefile: &str) -> Rules {
        let makefile = makefile.replace("\\\n", " ");
        let variables = MakeVariables::read(&makefile);
        let mut rules = Rules::default();
        let mut current: Vec<String> = Vec::new();
        for line in makefile.lines() {
            if let Some(recipe) = line.strip_prefix('\t') {
                let recipe = variables.expand(recipe);
                for target in &current {
                    rules.of.entry(target.clone()).or_default().recipe.push(recipe.clone());
                }
                continue;
            }
            let line = line.split('#').next().unwrap_or_default();
            let is_rule = line.find(':').is_some_and(|at| !line[..at].contains('='));
            let line = if is_rule { variables.expand(line) } else { line.to_owned() };
            let Some((left, right)) = line.split_once(':').filter(|it| !it.0.contains('=')) else { continue };
            let right = right.strip_prefix(':').unwrap_or(right);
            if right.starts_with('=') {
                continue;
            }
            let (right, recipe) = right.split_once(';').map_or((right, None), |(it, more)| (it, Some(more)));
            let words = || words_of(right).map(str::to_owned);
            current = left.split_whitespace().map(str::to_owned).collect();
            for target in &current {
                if target == ".PHONY" {
                    rules.phony.extend(words());
                    continue;
                }
                let rule = rules.of.entry(target.clone()).or_default();
                rule.prerequisites.extend(words());
                rule.recipe.extend(recipe.map(str::to_owned));
                if !target.starts_with('.') && !target.contains('%') {
                    rules.first.get_or_insert(target.clone());
                }
            }
        }
        rules
    }
}

/// A path below the top of the tree; nothing where it is computed, or leads out of the tree.
fn joined(folder: &str, word: &str) -> Option<String> {
    if word.is_empty()
        || word.starts_with(['/', '-', '.']) && !word.starts_with("./") && !word.starts_with("../")
        || word.contains(['$', '%', '*'])
    {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in word.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(command: &str, files: &[(&str, &str)]) -> MakeReach {
        let text = |path: &str| files.iter().find(|it| it.0 == path).map(|it| it.1.to_owned());
        reached(&[command.to_owned()], &text)
    }

    #[test]
    fn follows_goals_to_targets_and_files() {
        let makefile = ".PHONY: all\nall: docs\nt: add.c driver.c | build\n\tcc -o t add.c driver.c\n\ntest: t\n\t./t\ndocs:\n\ttrue\nCC := cc\n";
        let found = reach("make -s test V=1", &[("Makefile", makefile)]);
        assert_eq!(found.targets.iter().collect::<Vec<_>>(), ["t", "test"]);
        assert!(found.named.contains("driver.c") && !found.named.contains("docs"));
        assert_eq!(reach("make", &[("Makefile", makefile)]).targets.iter().collect::<Vec<_>>(), ["docs"]);
    }

    #[test]
    fn a_source_is_named_by_its_object_its_program_and_by_variables() {
        let rule = "test: verify\n\t./verify\n";
        for more in [
            "verify: verify.o price.o\n",
            "",
            "OBJS = verify.o price.o\nverify: $(OBJS)\n\t$(CC) -o $@ $(OBJS)\n",
            "SRCS = $(wildcard *.c)\nverify: $(SRCS:.c=.o)\n",
        ] {
            let makefile = format!("{rule}{more}shop: shop.c\n");
            let found = reach("make test", &[("Makefile", &makefile)]);
            assert!(found.names_source("verify.c"), "{makefile}");
            assert_eq!(found.names_source("shop.c"), more.contains('*'), "{makefile}");
        }
        assert!(reach("cc -o t *.c && ./t", &[]).names_source("verify.c"));
    }

    #[test]
    fn follows_make_into_folders() {
        let files = [
            ("Makefile", "check:\n\t$(MAKE) -C sub unit\n"),
            ("sub/makefile", "unit: ; python3 ../tools/run.py\n"),
        ];
        let found = reach("cd x && make check", &files);
        assert_eq!(found.targets.iter().collect::<Vec<_>>(), ["check", "sub/unit"]);
        assert!(found.named.contains("tools/run.py"));
        assert_eq!(reach("npm test", &files).targets.len(), 0);
    }
}
