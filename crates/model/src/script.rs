//! A script: what is answered to which request, and where in it the server is.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The turns of a model, and what follows the last one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub(crate) turns: Vec<ScriptedTurn>,
    #[serde(default)]
    after: After,
    /// The answer to requests that offer no tools.
    #[serde(default)]
    side: Option<ScriptedTurn>,
    #[serde(skip)]
    place: ScriptPosition,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum After {
    #[default]
    RepeatLast,
    Error,
}

#[derive(Clone, Copy, Debug, Default)]
struct ScriptPosition {
    turn: usize,
    /// How often the turn was played.
    times: i64,
}

/// One answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedTurn {
    #[serde(default)]
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) tools: Vec<Map<String, Value>>,
    /// An error as the test words it.
    #[serde(default)]
    pub(crate) error: Option<ScriptedError>,
    /// An error as the provider words it.
    #[serde(default)]
    pub(crate) fails: Option<FailureKind>,
    /// For `fails`: how many seconds until the provider serves again.
    #[serde(default)]
    pub(crate) seconds: u64,
    /// Why the answer ends, in the provider's own word.
    #[serde(default)]
    pub(crate) stop: Option<String>,
    /// Says nothing until the client is gone: before a byte is sent, or in the middle of the answer.
    #[serde(default)]
    pub(crate) silent: Option<When>,
    /// Cuts the connection.
    #[serde(default)]
    pub(crate) drop: Option<When>,
    #[serde(default)]
    pub(crate) usage: ScriptedUsage,
    #[serde(default)]
    pub(crate) headers: Map<String, Value>,
    /// A pattern that the request has to contain.
    #[serde(default)]
    pub(crate) expect: Option<String>,
    /// How often it is played; -1 for ever. A CLI asks again, so one failure is hardly ever seen.
    #[serde(default = "once")]
    times: i64,
}

fn once() -> i64 {
    1
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum When {
    Before,
    Within,
}

/// Tokens that an answer is said to have used.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default)]
pub(crate) struct ScriptedUsage {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cached: u64,
}

impl Default for ScriptedUsage {
    fn default() -> ScriptedUsage {
        ScriptedUsage { input: 1000, output: 50, cached: 0 }
    }
}

/// The ways in which providers refuse calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FailureKind {
    /// What the plan allows is used up, for `seconds`.
    Plan,
    /// The key is not accepted.
    Key,
    /// There is no money left.
    Credit,
    /// The provider cannot serve anybody.
    Overloaded,
    /// The request does not fit into the model.
    Context,
    /// There is no such model.
    Model,
    /// The provider does not want to do what was asked.
    Policy,
}

/// A refusal, in the fields that providers have for it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedError {
    pub(crate) status: u16,
    #[serde(rename = "type", default)]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) code: Option<String>,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) headers: Map<String, Value>,
    /// Further fields of the error object.
    #[serde(default)]
    pub(crate) extra: Map<String, Value>,
    /// Comes in the middle of an answer that began well.
    #[serde(default)]
    pub(crate) in_stream: bool,
}

/// Which turn a request got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhichTurn {
    Numbered(usize),
    Beside,
    Beyond,
}

impl Script {
    /// Reads a script from JSON, or says what is wrong with it.
    pub fn read(text: &str) -> Result<Script, String> {
        let script: Script = serde_json::from_str(text).map_err(|it| it.to_string())?;
        if script.turns.is_empty() {
            return Err("a script has at least one turn".to_owned());
        }
        Ok(script)
    }

    /// Returns the answer to the next request.
    pub(crate) fn take(&mut self, offers_tools: bool) -> (WhichTurn, ScriptedTurn) {
        if !offers_tools {
            let usual = || ScriptedTurn { text: "ok".to_owned(), ..ScriptedTurn::default() };
            return (WhichTurn::Beside, self.side.clone().unwrap_or_else(usual));
        }
        let Some(turn) = self.turns.get(self.place.turn) else {
            return match self.after {
                After::RepeatLast => (WhichTurn::Beyond, self.turns.last().cloned().unwrap_or_default()),
                After::Error => {
                    let message = "the script is over".to_owned();
                    let error = ScriptedError { status: 500, message, ..ScriptedError::default() };
                    (WhichTurn::Beyond, ScriptedTurn { error: Some(error), ..ScriptedTurn::default() })
                }
            };
        };
        let taken = (WhichTurn::Numbered(self.place.turn), turn.clone());
        self.place.times += 1;
        if 0 <= turn.times && turn.times <= self.place.times {
            self.place = ScriptPosition { turn: self.place.turn + 1, times: 0 };
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::{Script, WhichTurn};

    #[test]
    fn turns_are_played_in_order_as_often_as_they_say() {
        let mut script =
            Script::read(r#"{"turns": [{"text": "a", "times": 2}, {"text": "b"}]}"#).expect("a script");
        let mut said = Vec::new();
        for offers_tools in [true, false, true, true, true] {
            let (taken, turn) = script.take(offers_tools);
            said.push((taken, turn.text));
        }
        let expected = [
            (WhichTurn::Numbered(0), "a"),
            (WhichTurn::Beside, "ok"),
            (WhichTurn::Numbered(0), "a"),
            (WhichTurn::Numbered(1), "b"),
            (WhichTurn::Beyond, "b"),
        ];
        assert_eq!(said, expected.map(|(taken, text)| (taken, text.to_owned())));
        assert!(Script::read(r#"{"turns": []}"#).is_err());
        assert!(Script::read(r#"{"turns": [{"txet": "a"}]}"#).is_err_and(|it| it.contains("txet")));
    }
}
