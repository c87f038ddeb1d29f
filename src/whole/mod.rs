//! Tests of the core that need the whole program: the driver, the simulated world, the readers of
//! runners' output, the published documents.

mod bounds;

use loop_core::workflow::resolve::{Layers, resolve};

/// Compares a generated document with what is in the repository; `LOOP_REGENERATE=1` writes it.
pub(crate) fn generated(path: &str, text: &str) {
    if std::env::var_os("LOOP_REGENERATE").is_some() {
        std::fs::write(path, text).expect("it can be written");
    }
    let there = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert!(
        there == text,
        "{path} is behind; LOOP_REGENERATE=1 cargo test --workspace --lib published writes it"
    );
}

#[test]
fn the_examples_of_stories_can_be_told() {
    let text = std::fs::read_to_string("docs/reference/stories.md").expect("a document");
    let stories: Vec<&str> = text
        .split("```story")
        .skip(1)
        .filter_map(|it| Some(it.split_once('\n')?.1.split_once("\n```")?.0))
        .collect();
    assert!(2 <= stories.len());
    let load = |name: &str| {
        let layers = Layers { preset: Some(name.to_owned()), ..Layers::default() };
        resolve(&layers, &|_| Err("no such file".to_owned())).map_err(|it| format!("{it:?}"))
    };
    for story in stories {
        crate::sim::story::tell(story, &load).unwrap_or_else(|why| panic!("{why}\n{story}"));
    }
}
