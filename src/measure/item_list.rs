//! Reading the list that a body of phases repeats over. The list is read again before each item,
//! so an agent may add to it.

use super::planning;
use loop_core::engine::{Item, ItemList, RefusedPlan};
use loop_core::workflow::model::{ItemSource, Items};
use serde_json::Value;
use std::path::Path;

/// A longer list is a mistake in the file. The whole of it is read and compared before each item.
const ITEMS_MOST: usize = 10_000;

/// Lists are read up to this size.
const FILE_MOST: u64 = 16 << 20;

/// Returns the items, or why there are none. `printed` is what the list's command printed, where it
/// has one; `queued` is what the queue says is to be built; `known` is the list as it was read before, and
/// `refused` are plans that are not worked on.
pub(crate) fn list(
    place: &Path,
    items: &Items,
    printed: &str,
    queued: &[String],
    known: Option<&ItemList>,
    refused: &[RefusedPlan],
) -> Result<Vec<Item>, String> {
    let mut found: Vec<Item> = match &items.from {
        ItemSource::List(names) => names.iter().map(|it| item(it, it)).collect(),
        ItemSource::Json { file, pointer } => json(place, file, pointer)?,
        ItemSource::Command(_) => lines(printed).map(|it| item(it, it)).collect(),
        ItemSource::Plans(folder) => {
            let said =
                |it: Vec<String>| it.iter().map(|it| format!("{folder}/{it}")).collect::<Vec<_>>().join("; ");
            let phase = planning::read_phase(place, folder, refused).map_err(said)?;
            planning::items(&phase, folder, known)
        }
        ItemSource::Queue(_) => queued.iter().map(|it| item(it, it)).collect(),
    };
    if ITEMS_MOST < found.len() {
        return Err(format!("{} items are more than {ITEMS_MOST}", found.len()));
    }
    // Items without an order come last, as they are listed.
    found.sort_by_key(|it| it.order.unwrap_or(i64::MAX));
    Ok(found)
}

/// One item a line.
fn lines(printed: &str) -> impl Iterator<Item = &str> {
    printed.lines().map(str::trim).filter(|it| !it.is_empty())
}

/// An entry is a text, or an object with an `id`, a `name`, or both. An object may also have a `kind`,
/// a `group`, an `order` (a whole number, by which the list is sorted) and a `body`: the path of its text.
fn json(place: &Path, file: &str, pointer: &str) -> Result<Vec<Item>, String> {
    let path = place.join(file);
    let size = std::fs::metadata(&path).map_err(|error| format!("{file} cannot be read: {error}"))?.len();
    if FILE_MOST < size {
        return Err(format!("{file} is larger than {} MB", FILE_MOST >> 20));
    }
    let text = loop_base::files::text(&path).map_err(|error| format!("{file} cannot be read: {error}"))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("{file} is not JSON: {error}"))?;
    let found = value.pointer(pointer).and_then(Value::as_array);
    let entries = found.ok_or_else(|| format!("{file} has no list at \"{pointer}\""))?;
    entries.iter().enumerate().map(|(index, it)| entry(file, index, it)).collect()
}

fn entry(file: &str, index: usize, value: &Value) -> Result<Item, String> {
    let field = |name: &str| value.get(name).and_then(Value::as_str);
    let (id, name) = match (value.as_str(), field("id"), field("name")) {
        (Some(text), _, _) => (text, text),
        (None, Some(id), name) => (id, name.unwrap_or(id)),
        (None, None, Some(name)) => (name, name),
        (None, None, None) => {
            return Err(format!("entry {index} of {file} is not a text and has no id or name"));
        }
    };
    let text = |name: &str| field(name).map(str::to_owned);
    let order = value.get("order").and_then(Value::as_i64);
    Ok(Item { kind: text("kind"), group: text("group"), order, body: text("body"), ..item(id, name) })
}

fn item(id: &str, name: &str) -> Item {
    Item::new(id, name)
}

#[cfg(test)]
mod tests {
    use super::{Item, item, list};
    use loop_core::workflow::model::{ItemSource, Items};

    #[test]
    fn a_list_in_a_file_is_texts_or_objects() {
        let dir = tempfile::tempdir().expect("a folder");
        let from = ItemSource::Json { file: "todo.json".to_owned(), pointer: "/open".to_owned() };
        let items = Items { name: "task".to_owned(), from, bookkeeping: Vec::new() };
        let read = |text: &str| {
            std::fs::write(dir.path().join("todo.json"), text).expect("written");
            list(dir.path(), &items, "", &[], None, &[])
        };
        let good = r#"{"open": ["a", {"id": "b", "name": "the second"}, {"name": "c"}]}"#;
        assert_eq!(read(good), Ok(vec![item("a", "a"), item("b", "the second"), item("c", "c")]));
        let rich = r#"{"open": [{"id": "b", "order": 2, "kind": "auto", "group": "wave 1", "body": "b.md"}, {"id": "a", "order": 1}]}"#;
        let found = read(rich).expect("a list");
        let second = Item {
            kind: Some("auto".to_owned()),
            group: Some("wave 1".to_owned()),
            order: Some(2),
            body: Some("b.md".to_owned()),
            ..item("b", "b")
        };
        assert_eq!((found[0].id.as_str(), &found[1]), ("a", &second));
        for bad in ["{}", "[", r#"{"open": [1]}"#, r#"{"open": "a"}"#] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
