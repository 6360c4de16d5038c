//! Typed access to the fields of a JSON object, with errors that name file, field, found and expected.
//!
//! The rule: absent and `null` are the same, as in Python's configuration classes; a value of the wrong type is always an
//! error, never a default.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::ModelError;

/// A JSON object and where it is from.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    path: PathBuf,
    prefix: String,
}

impl<'a> Fields<'a> {
    /// The top object of the file at `path`.
    pub(super) fn new(value: &'a Value, path: &Path) -> Result<Self, ModelError> {
        match value {
            Value::Object(map) => Ok(Self { map, path: path.into(), prefix: String::new() }),
            other => {
                let reason = format!("the file holds {}, not an object", shown(other));
                Err(ModelError::Json { path: path.into(), reason })
            }
        }
    }

    /// The object in field `name`, if there is one.
    pub(super) fn object(&self, name: &str) -> Result<Option<Fields<'a>>, ModelError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Object(map)) => {
                let prefix = format!("{}{name}.", self.prefix);
                Ok(Some(Fields { map, path: self.path.clone(), prefix }))
            }
            Some(_) => Err(self.wrong(name, "an object")),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The field's value, unless it is absent or null.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|v| !v.is_null())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The error that `name` is not what was expected.
    pub(super) fn wrong(&self, name: &str, expected: impl Into<String>) -> ModelError {
        ModelError::Field {
            path: self.path.clone(),
            field: format!("{}{name}", self.prefix),
            found: self.get(name).map_or("missing".into(), shown),
            expected: expected.into(),
        }
    }

    pub(super) fn optional_whole(&self, name: &str) -> Result<Option<u64>, ModelError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        value.as_u64().map(Some).ok_or_else(|| self.wrong(name, "a whole number from 0"))
    }

    /// A whole number from 1 to `max`, if the field is there.
    pub(super) fn optional_size(&self, name: &str, max: usize) -> Result<Option<usize>, ModelError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match value.as_u64() {
            Some(n) if (1..=max as u64).contains(&n) => Ok(Some(n as usize)),
            _ => Err(self.wrong(name, format!("a whole number from 1 to {max}"))),
        }
    }

    /// A whole number from 1 to `max`; the field must be there.
    pub(super) fn size(&self, name: &str, max: usize) -> Result<usize, ModelError> {
        let missing = || self.wrong(name, format!("a whole number from 1 to {max}"));
        self.optional_size(name, max)?.ok_or_else(missing)
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, ModelError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match value.as_f64() {
            Some(x) if x.is_finite() => Ok(Some(x)),
            _ => Err(self.wrong(name, "a number")),
        }
    }

    pub(super) fn positive(&self, name: &str) -> Result<Option<f64>, ModelError> {
        match self.number(name)? {
            Some(x) if x <= 0.0 => Err(self.wrong(name, "a number over 0")),
            other => Ok(other),
        }
    }

    pub(super) fn boolean(&self, name: &str) -> Result<Option<bool>, ModelError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        value.as_bool().map(Some).ok_or_else(|| self.wrong(name, "true or false"))
    }

    pub(super) fn string(&self, name: &str) -> Result<Option<String>, ModelError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        value.as_str().map(|s| Some(s.into())).ok_or_else(|| self.wrong(name, "a string"))
    }

    pub(super) fn strings(&self, name: &str) -> Result<Vec<String>, ModelError> {
        let Some(value) = self.get(name) else {
            return Ok(Vec::new());
        };
        let strings = value.as_array().and_then(|items| items.iter().map(|s| s.as_str().map(Into::into)).collect());
        strings.ok_or_else(|| self.wrong(name, "a list of strings"))
    }

    /// One token id or a list of them.
    pub(super) fn ids(&self, name: &str) -> Result<Vec<u32>, ModelError> {
        let Some(value) = self.get(name) else {
            return Ok(Vec::new());
        };
        let id = |v: &Value| v.as_u64().and_then(|n| u32::try_from(n).ok());
        let ids = match value {
            Value::Array(items) => items.iter().map(id).collect(),
            one => id(one).map(|n| vec![n]),
        };
        ids.ok_or_else(|| self.wrong(name, "a token id or a list of them"))
    }
}

/// A value as a message shows it: short.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 {
        return text;
    }
    text.chars().take(57).chain("...".chars()).collect()
}
