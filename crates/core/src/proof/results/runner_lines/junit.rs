//! Tags of JUnit XML.

use quick_xml::escape::unescape;
use quick_xml::events::BytesStart;

/// Returns the value of an attribute, as a person would read it.
pub fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    // A name that is there twice is the tool's fault, not a reason to lose the test.
    let found =
        tag.attributes().with_checks(false).flatten().find(|it| it.key.as_ref() == name.as_bytes())?;
    let raw = String::from_utf8_lossy(&found.value).into_owned();
    Some(unescape(&raw).map_or(raw.clone(), |it| it.into_owned()))
}
