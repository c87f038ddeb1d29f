//! A JSON object whose fields are asked for by name and type. What is missing or wrong is named with
//! the path that leads to it; what nobody asks for may be anything.

use super::{CLOCK_SKEW_MS, Invalid, claimed};
use loop_base::time::Timestamp;
use loop_base::value::Value;
use loop_core::engine::Metric;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::Path;

/// A session's file is below 100 KB; one that is much larger was not written by a controller.
const FILE_MOST: u64 = 8 << 20;

pub(in crate::mirror) struct Fields {
    file: &'static str,
    /// The path to this object, with a dot at its end.
    path: String,
    object: Map<String, Json>,
}

impl Fields {
    pub(in crate::mirror) fn read(folder: &Path, file: &'static str) -> Result<Option<Fields>, Invalid> {
        let path = folder.join(file);
        let whole = |why: String| Invalid { file, field: "the file".to_owned(), why };
        match std::fs::metadata(&path) {
            Ok(meta) if !meta.is_file() => return Err(whole("is not a file".to_owned())),
            Ok(meta) if FILE_MOST < meta.len() => return Err(whole("is too large".to_owned())),
            Ok(_) => (),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(whole(format!("cannot be read: {error}"))),
        }
        let text =
            loop_base::files::text(&path).map_err(|error| whole(format!("cannot be read: {error}")))?;
        match serde_json::from_str(&text) {
            Ok(Json::Object(object)) => Ok(Some(Fields { file, path: String::new(), object })),
            Ok(_) => Err(whole("is not a JSON object".to_owned())),
            Err(error) => Err(whole(format!("is not JSON: {error}"))),
        }
    }

    pub(in crate::mirror) fn wrong(&self, field: &str, why: &str) -> Invalid {
        Invalid { file: self.file, field: format!("{}{field}", self.path), why: why.to_owned() }
    }

    fn get(&self, field: &str) -> Option<&Json> {
        self.object.get(field).filter(|it| !it.is_null())
    }

    pub(in crate::mirror) fn text(&self, field: &str) -> Result<String, Invalid> {
        match self.optional_text(field)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(self.wrong(field, "is empty")),
            None => Err(self.wrong(field, "is missing")),
        }
    }

    pub(in crate::mirror) fn optional_text(&self, field: &str) -> Result<Option<String>, Invalid> {
        match self.get(field) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(field, "is not a text")),
        }
    }

    pub(in crate::mirror) fn count(&self, field: &str, most: u64) -> Result<Option<u64>, Invalid> {
        let Some(value) = self.get(field) else { return Ok(None) };
        match value.as_u64() {
            Some(count) if count <= most => Ok(Some(count)),
            Some(_) | None => Err(self.wrong(field, &format!("is not a whole number from 0 to {most}"))),
        }
    }

    pub(in crate::mirror) fn moment(&self, field: &str, now: Timestamp) -> Result<Timestamp, Invalid> {
        self.optional_moment(field, now)?.ok_or_else(|| self.wrong(field, "is missing"))
    }

    pub(in crate::mirror) fn optional_moment(
        &self,
        field: &str,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Invalid> {
        let Some(text) = self.optional_text(field)? else { return Ok(None) };
        let Ok(moment) = text.parse::<jiff::Timestamp>() else {
            return Err(self.wrong(field, "is not a time with a zone, such as 2026-01-16T10:00:00-03:00"));
        };
        let moment = Timestamp(moment.as_millisecond());
        if now.plus(CLOCK_SKEW_MS) < moment {
            return Err(self.wrong(field, "is in the future"));
        }
        Ok(Some(moment))
    }

    pub(in crate::mirror) fn texts(&self, field: &str) -> Result<Vec<String>, Invalid> {
        let Some(value) = self.get(field) else { return Ok(Vec::new()) };
        let list = value.as_array().and_then(|it| {
            it.iter().map(|it| it.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
        });
        list.ok_or_else(|| self.wrong(field, "is not a list of texts"))
    }

    /// Returns an object that stands in this one.
    pub(in crate::mirror) fn section(&self, field: &str) -> Result<Option<Fields>, Invalid> {
        match self.get(field) {
            None => Ok(None),
            Some(Json::Object(object)) => Ok(Some(self.below(field, object))),
            Some(_) => Err(self.wrong(field, "is not an object")),
        }
    }

    /// Returns an object that stands in an object that stands in this one.
    pub(in crate::mirror) fn inner(&self, field: &str, name: &str) -> Result<Option<Fields>, Invalid> {
        match self.section(field)? {
            Some(section) => section.section(name),
            None => Ok(None),
        }
    }

    pub(in crate::mirror) fn entries(&self, field: &str) -> Result<Vec<Fields>, Invalid> {
        let Some(value) = self.get(field) else { return Ok(Vec::new()) };
        let Some(list) = value.as_array() else { return Err(self.wrong(field, "is not a list")) };
        let entry = |(index, it): (usize, &Json)| {
            let name = format!("{field}[{index}]");
            it.as_object()
                .map(|it| self.below(&name, it))
                .ok_or_else(|| self.wrong(&name, "is not an object"))
        };
        list.iter().enumerate().map(entry).collect()
    }

    /// Returns what an object says by plain values; a list counts as its length.
    pub(in crate::mirror) fn values(&self, field: &str) -> Result<BTreeMap<String, Metric>, Invalid> {
        let Some(section) = self.section(field)? else { return Ok(BTreeMap::new()) };
        let value = |it: &Json| match it {
            Json::Bool(it) => Some(Value::Bool(*it)),
            Json::Number(it) => it.as_i64().map(Value::Int).or_else(|| it.as_f64().map(Value::Number)),
            Json::String(it) => Some(Value::Text(it.clone())),
            Json::Array(it) => i64::try_from(it.len()).ok().map(Value::Int),
            Json::Object(_) | Json::Null => None,
        };
        let known = section.object.iter().filter_map(|(name, it)| Some((name.clone(), claimed(value(it)?))));
        Ok(known.collect())
    }

    /// The names of its fields.
    pub(in crate::mirror) fn names(&self) -> impl Iterator<Item = &str> {
        self.object.keys().map(String::as_str)
    }

    pub(in crate::mirror) fn is_true(&self, field: &str) -> bool {
        self.get(field) == Some(&Json::Bool(true))
    }

    fn below(&self, field: &str, object: &Map<String, Json>) -> Fields {
        Fields { file: self.file, path: format!("{}{field}.", self.path), object: object.clone() }
    }
}
