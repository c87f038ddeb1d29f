//! Enums whose values are words: in files, journals and JSON a value is its word, and whatever has no value of its
//! own is kept as it was written. Each word stands once.

/// Declares such an enum. The last value takes every other word.
macro_rules! open_words {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$meaning:meta])* $value:ident = $word:literal,)*
            ;
            $(#[$rest:meta])* $other:ident
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$meaning])* $value,)*
            $(#[$rest])*
            $other(String),
        }

        impl $name {
            pub fn word(&self) -> &str {
                match self {
                    $($name::$value => $word,)*
                    $name::$other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> $name {
                match word.as_str() {
                    $($word => $name::$value,)*
                    _ => $name::$other(word),
                }
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.word().to_owned()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

pub(crate) use open_words;

#[cfg(test)]
mod tests {
    use crate::engine::{CheckpointKind, Choice};
    use crate::workflow::model::SignalWord;

    #[test]
    fn a_value_is_its_word_and_any_other_word_is_kept() {
        let choice = |word: &str| Choice::from(word.to_owned());
        assert_eq!((choice("waive"), choice("Waive")), (Choice::Waive, Choice::Other("Waive".to_owned())));
        assert_eq!(serde_json::to_string(&Choice::Expired).expect("plain"), "\"expired\"");
        assert_eq!(format!("{:>14}", CheckpointKind::HumanVerify), "  human-verify");
        let read: SignalWord = serde_json::from_str("\"my words\"").expect("a word");
        assert_eq!(read, SignalWord::Other("my words".to_owned()));
        assert_eq!(read.word(), "my words");
    }
}
