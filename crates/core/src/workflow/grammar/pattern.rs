//! Patterns of paths and lines: whether they can be read at all. One that cannot would match nothing,
//! which looks like a fact that is false.

use super::problem::{Place, Sources};

/// Reports a glob that cannot be read. Parts that a run fills in stand for any text.
pub(crate) fn glob(text: &str, place: &Place, sources: &mut Sources) {
    if text.trim().is_empty() {
        sources.refuse(place, "the glob is empty");
        return;
    }
    let built = globset::GlobBuilder::new(&filled(text)).literal_separator(true).build();
    if let Err(error) = built {
        let next = "* matches part of a name, ** matches folders, {a,b} either one; [*] and [?] match the character itself";
        sources.refuse_with(place, format!("\"{text}\" is not a glob: {}", error.kind()), next);
    }
}

/// Reports a regular expression that cannot be read.
pub(crate) fn regex(text: &str, place: &Place, sources: &mut Sources) {
    if text.is_empty() {
        sources.refuse(place, "the regular expression is empty");
        return;
    }
    match regex_lite::Regex::new(text) {
        Ok(regex) if regex.is_match("") => {
            let says = "this regular expression matches every line, the empty one too";
            sources.refuse_with(place, says, "say what the line has to contain");
        }
        Ok(_) => {}
        Err(error) => {
            let next = "write \\\\ before a sign that is meant plainly; Unicode classes and look-around are not known";
            sources.refuse_with(place, format!("\"{text}\" is not a regular expression: {error}"), next);
        }
    }
}

/// Replaces `{{ … }}` by a plain word.
fn filled(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((_, behind)) = after.split_once("}}") else { break };
        out.push_str(before);
        out.push('x');
        rest = behind;
    }
    out + rest
}
