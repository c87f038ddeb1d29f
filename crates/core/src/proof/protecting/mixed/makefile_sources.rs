//! A Makefile that was changed only to build one more source of the product: its name was added where names of
//! sources or objects stood before. What runs is the same, and a source that is linked can do no more than one
//! that was linked before. Any other change of a Makefile is a change of what runs.

const SOURCES: [&str; 6] = ["c", "cc", "cpp", "cxx", "s", "asm"];
const OBJECTS: [&str; 2] = ["o", "obj"];

/// Whether `now` is `base` with names of sources that `is_added` knows, by their file name.
pub(crate) fn only_gains_sources(base: &str, now: &str, is_added: &dyn Fn(&str) -> bool) -> bool {
    let (before, after): (Vec<&str>, Vec<&str>) = (base.lines().collect(), now.lines().collect());
    before.len() == after.len()
        && before.iter().zip(&after).all(|(before, after)| before == after || gains(before, after, is_added))
}

fn gains(before: &str, after: &str, is_added: &dyn Fn(&str) -> bool) -> bool {
    let is_recipe = |line: &str| line.starts_with('\t');
    let words: Vec<&str> = after.split_whitespace().collect();
    let mut expected = before.split_whitespace().peekable();
    let is_new = |word: &str| {
        file_of(word).is_some_and(|(stem, extension)| match extension {
            it if OBJECTS.contains(&it) => SOURCES.iter().any(|it| is_added(&format!("{stem}.{it}"))),
            it => is_added(&format!("{stem}.{it}")),
        })
    };
    // Elsewhere on the line it could be an argument of the test program.
    let is_beside_a_source = |at: usize| {
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        beside.filter_map(|it| words.get(it)).any(|it| file_of(it).is_some())
    };
    for (at, word) in words.iter().enumerate() {
        if expected.next_if_eq(word).is_none() && !(is_new(word) && is_beside_a_source(at)) {
            return false;
        }
    }
    expected.next().is_none() && is_recipe(before) == is_recipe(after)
}

/// The name and the kind of a source or an object.
fn file_of(word: &str) -> Option<(&str, &str)> {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.rsplit_once('.').filter(|(stem, extension)| {
        let is_kind = SOURCES.contains(extension) || OBJECTS.contains(extension);
        is_kind && stem.chars().all(|it| it.is_alphanumeric() || "_-.".contains(it)) && !stem.starts_with('-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_of_the_product_may_be_added_and_nothing_else() {
        let base = "OBJS = price.o \\\n  tax.o\ntest: check\n\t$(CC) -o check check.c price.c && ./check\n";
        let with = |from: &str, to: &str| base.replace(from, to);
        let is_added = |name: &str| name == "most.c";
        for now in [
            with("price.o", "price.o most.o"),
            with("  tax.o", "  tax.o build/most.o"),
            with("price.c", "price.c src/most.c"),
            with("price.c", "most.c price.c"),
        ] {
            assert!(only_gains_sources(base, &now, &is_added), "{now}");
        }
        for now in [
            with("price.c", "price.c other.c"),
            with("price.c", ""),
            with("./check", "true"),
            with("./check", "./check most.c"),
            with("test: check", "test: check most.c"),
            with("-o check", "-o check -DTEST=0"),
            with("./check", "./check; true"),
            format!("{base}most.o: most.c\n"),
            with("check.c price.c", "price.c check.c most.c"),
        ] {
            assert!(!only_gains_sources(base, &now, &is_added), "{now}");
        }
    }
}
