//! Whether two names mean the same model: a full id, an alias and a dated release of one model are one
//! family. Where an agent's row says which words name a family, a word is enough; other names are compared
//! without provider and date.

use crate::agent_table::built_in::BUILT_IN;

/// Endings that name a release of a model and not another model.
const RELEASES: [&str; 5] = ["latest", "preview", "exp", "experimental", "stable"];

/// Says whether both names are of one family.
pub(crate) fn is_same_family(one: &str, other: &str) -> bool {
    family(one) == family(other)
}

fn family(model: &str) -> String {
    let model = model.to_lowercase();
    // `provider/model`, and `model[1m]` for a larger context.
    let name = model.rsplit('/').next().unwrap_or(&model);
    let name = name.split('[').next().unwrap_or(name);
    let is_in_name = |word: &&&str| name.split(|it: char| !it.is_alphanumeric()).any(|it| it == **word);
    if let Some(word) = BUILT_IN.iter().flat_map(|it| it.family_words).find(is_in_name) {
        return (*word).to_owned();
    }
    let mut parts: Vec<&str> = name.split(['-', '@', ':']).filter(|it| !it.is_empty()).collect();
    let is_date = |it: &str| 4 <= it.len() && it.bytes().all(|it| it.is_ascii_digit());
    while 1 < parts.len()
        && parts.last().is_some_and(|it| {
            is_date(it) || it.len() == 2 && it.bytes().all(|it| it.is_ascii_digit()) || RELEASES.contains(it)
        })
    {
        parts.pop();
    }
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::is_same_family;

    #[test]
    fn names_of_one_model_are_one_family() {
        for (one, other) in [
            ("opus", "claude-opus-5-5"),
            ("anthropic/claude-sonnet-4-5-20250929", "sonnet"),
            ("claude-opus-5-5[1m]", "opus"),
            ("gpt-5", "openai/gpt-5-2026-01-01"),
            ("gemini-2.5-pro", "gemini-2.5-pro-preview"),
            ("Gemini-2.5-Pro", "gemini-2.5-pro-latest"),
        ] {
            assert!(is_same_family(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("opus", "claude-sonnet-5"),
            ("gpt-5", "gpt-5-codex"),
            ("gpt-5", "gpt-5-mini"),
            ("gemini-2.5-pro", "gemini-2.5-flash"),
            ("o3", "o4-mini"),
        ] {
            assert!(!is_same_family(one, other), "{one} {other}");
        }
    }
}
