//! A command line as words, as people write it and without a shell.

/// Splits a command line into words, with quotes and backslashes and nothing else of a shell.
pub(crate) fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut rest = text.chars();
    while let Some(it) = rest.next() {
        match (quote, it) {
            (Some(open), _) if it == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(it),
            (_, '\\') => {
                let escaped = rest.next().ok_or("a backslash at the end escapes nothing")?;
                word.get_or_insert_default().push(escaped);
            }
            (Some(_), _) => word.get_or_insert_default().push(it),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(it);
            }
            (None, _) if it.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(it),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_split_as_people_write_them() {
        let words = |text| split(text).expect("words");
        assert_eq!(words("sh -c 'echo hi; exit 1'"), ["sh", "-c", "echo hi; exit 1"]);
        assert_eq!(words(r#"a "b \" c" d\ e ''"#), ["a", "b \" c", "d e", ""]);
        assert_eq!(words("  "), Vec::<String>::new());
        assert!(split("'open").is_err());
        assert_eq!(words("$HOME;ls|x"), ["$HOME;ls|x"]);
    }
}
