//! Text to terms: a scanner and a descent over four levels (`||`, `&&`, one comparison, `!`). It
//! stops at the first mistake, because what follows one is guesswork in a line this short.

use super::{Comparison, Mistake, Shape, Term};
use loop_base::value::Value;
use std::ops::Range;

/// The longest condition: the longest of the four presets has about 120 bytes, and one that needs ten
/// times as much is a program that belongs into a check.
const LENGTH_LIMIT: usize = 2_000;

/// The deepest nesting of parentheses and `!`. Terms are walked by recursion, so this bounds the
/// stack; nobody reads more than a few levels.
const DEPTH_LIMIT: usize = 32;

/// Words that CEL keeps for itself; a name here must be a name there too.
const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

const NO_ARITHMETIC: &str = "conditions have no arithmetic; let a check supply the number";

pub(super) fn parse(source: &str) -> Result<Term, Mistake> {
    if source.len() > LENGTH_LIMIT {
        return mistake(0..source.len(), format!("a condition has at most {LENGTH_LIMIT} bytes"));
    }
    let tokens = scan(source)?;
    if tokens.is_empty() {
        return mistake(0..source.len(), "the condition is empty");
    }
    let mut parser = Parser { tokens, next: 0, depth: 0, end: source.len() };
    let term = parser.either()?;
    match parser.peek() {
        None => Ok(term),
        Some(ConditionToken::Close) => mistake(parser.here(), "this ) was never opened"),
        Some(ConditionToken::Compare(_)) => {
            mistake(parser.here(), "comparisons do not chain; write the two comparisons with && between them")
        }
        Some(ConditionToken::Open) if matches!(term.shape, Shape::Name(_)) || parser.follows_name() => {
            mistake(parser.here(), "conditions have no functions; let a check supply the value")
        }
        Some(ConditionToken::Literal(Value::Int(..0) | Value::Number(..0.0))) => {
            mistake(parser.here(), NO_ARITHMETIC)
        }
        Some(
            ConditionToken::Open
            | ConditionToken::Name(_)
            | ConditionToken::Literal(_)
            | ConditionToken::Not
            | ConditionToken::And
            | ConditionToken::Or,
        ) => mistake(parser.here(), "expected && or || before this"),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum ConditionToken {
    Name(String),
    Literal(Value),
    Compare(Comparison),
    And,
    Or,
    Not,
    Open,
    Close,
}

fn mistake<T>(at: Range<usize>, says: impl Into<String>) -> Result<T, Mistake> {
    Err(Mistake { at, says: says.into() })
}

fn scan(source: &str) -> Result<Vec<(ConditionToken, Range<usize>)>, Mistake> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let (token, length) = match first {
            ' ' | '\t' | '\n' | '\r' => {
                at += 1;
                continue;
            }
            '(' => (ConditionToken::Open, 1),
            ')' => (ConditionToken::Close, 1),
            'a'..='z' | 'A'..='Z' | '_' => scan_word(rest, at)?,
            '0'..='9' => scan_number(rest, at)?,
            '-' if rest[1..].starts_with(|it: char| it.is_ascii_digit()) => scan_number(rest, at)?,
            '"' | '\'' => scan_text(rest, at, first)?,
            _ => scan_operator(rest, at, first)?,
        };
        tokens.push((token, at..at + length));
        at += length;
    }
    Ok(tokens)
}

fn scan_word(rest: &str, at: usize) -> Result<(ConditionToken, usize), Mistake> {
    let length = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(rest.len());
    let word = &rest[..length];
    let here = at..at + length;
    if rest[length..].starts_with(['"', '\'']) {
        return mistake(here, "texts have no prefix; write only the quotes");
    }
    let token = match word {
        "true" => ConditionToken::Literal(Value::Bool(true)),
        "false" => ConditionToken::Literal(Value::Bool(false)),
        "and" | "AND" => return mistake(here, "write && for and"),
        "or" | "OR" => return mistake(here, "write || for or"),
        "not" | "NOT" => return mistake(here, "write ! for not"),
        "in" => return mistake(here, "conditions have no lists; compare with == and join with ||"),
        "null" => return mistake(here, "there is no null; a value that nothing supplies is unknown"),
        _ if RESERVED.contains(&word) => return mistake(here, format!("`{word}` is a reserved word")),
        _ => ConditionToken::Name(word.to_owned()),
    };
    Ok((token, length))
}

fn scan_number(rest: &str, at: usize) -> Result<(ConditionToken, usize), Mistake> {
    let sign = usize::from(rest.starts_with('-'));
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '.' || it == '_';
    let length = sign + rest[sign..].find(|it| !is_part(it)).unwrap_or(rest.len() - sign);
    let here = at..at + length;
    let text = &rest[..length];
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let value = match text[sign..].split_once('.') {
        None if digits(&text[sign..]) => text.parse().ok().map(Value::Int),
        Some((whole, fraction)) if digits(whole) && digits(fraction) => {
            text.parse().ok().filter(|it: &f64| it.is_finite()).map(Value::Number)
        }
        None | Some(_) => {
            return mistake(here, format!("`{text}` is not a number; write digits, as 12 or 8.5"));
        }
    };
    match value {
        Some(value) => Ok((ConditionToken::Literal(value), length)),
        None => mistake(here, format!("`{text}` is too large a number")),
    }
}

fn scan_text(rest: &str, at: usize, quote: char) -> Result<(ConditionToken, usize), Mistake> {
    let Some(end) = rest[1..].find(quote) else {
        return mistake(at..at + rest.len(), format!("this text has no closing {quote}"));
    };
    let text = &rest[1..=end];
    let length = end + 2;
    if let Some(offset) = text.find(['\\', '\n', '\r']) {
        let here = at + 1 + offset..at + 2 + offset;
        return mistake(here, "texts have no escapes and no line breaks; use the other kind of quotes");
    }
    // CEL reads two quotes and a third as the beginning of a long text.
    if text.is_empty() && rest[length..].starts_with(quote) {
        return mistake(at..at + length + 1, "texts have one quote at each end");
    }
    Ok((ConditionToken::Literal(Value::Text(text.to_owned())), length))
}

fn scan_operator(rest: &str, at: usize, first: char) -> Result<(ConditionToken, usize), Mistake> {
    const OPERATORS: &[(&str, ConditionToken)] = &[
        ("&&", ConditionToken::And),
        ("||", ConditionToken::Or),
        ("==", ConditionToken::Compare(Comparison::Equal)),
        ("!=", ConditionToken::Compare(Comparison::Unequal)),
        ("<=", ConditionToken::Compare(Comparison::AtMost)),
        (">=", ConditionToken::Compare(Comparison::AtLeast)),
        ("<", ConditionToken::Compare(Comparison::Less)),
        (">", ConditionToken::Compare(Comparison::More)),
        ("!", ConditionToken::Not),
    ];
    const MISTAKES: &[(&str, &str)] = &[
        ("===", "write == to compare"),
        ("!==", "write != to compare"),
        ("<>", "write != to compare"),
        ("=>", "write >= to compare"),
        ("=<", "write <= to compare"),
        ("=~", "conditions have no patterns; let a check supply the value"),
    ];
    if let Some((wrong, says)) = MISTAKES.iter().find(|(it, _)| rest.starts_with(it)) {
        return mistake(at..at + wrong.len(), *says);
    }
    if let Some((text, token)) = OPERATORS.iter().find(|(it, _)| rest.starts_with(it)) {
        return Ok((token.clone(), text.len()));
    }
    let says = match first {
        '=' => "write == to compare".to_owned(),
        '&' => "write && for and".to_owned(),
        '|' => "write || for or".to_owned(),
        '+' | '-' | '*' | '/' | '%' => NO_ARITHMETIC.to_owned(),
        '[' | ']' | '{' | '}' | ',' => {
            "conditions have no lists or maps; a list counts as its length".to_owned()
        }
        '.' if rest[1..].starts_with(|it: char| it.is_ascii_digit()) => {
            "write a digit before the point, as 0.5".to_owned()
        }
        '.' => "conditions have no fields; names are plain words".to_owned(),
        '?' | ':' => "conditions have no ?:; write it with && and ||".to_owned(),
        '\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}' => "write straight quotes, ' or \"".to_owned(),
        _ => format!("`{}` has no meaning in a condition", first.escape_debug()),
    };
    mistake(at..at + first.len_utf8(), says)
}

struct Parser {
    tokens: Vec<(ConditionToken, Range<usize>)>,
    next: usize,
    depth: usize,
    end: usize,
}

impl Parser {
    fn peek(&self) -> Option<&ConditionToken> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    fn here(&self) -> Range<usize> {
        self.tokens.get(self.next).map_or(self.end..self.end, |(_, at)| at.clone())
    }

    fn follows_name(&self) -> bool {
        self.next > 0 && matches!(self.tokens[self.next - 1].0, ConditionToken::Name(_))
    }

    fn either(&mut self) -> Result<Term, Mistake> {
        let first = self.both()?;
        self.joined(first, &ConditionToken::Or, Parser::both, Shape::Some)
    }

    fn both(&mut self) -> Result<Term, Mistake> {
        let first = self.comparison()?;
        self.joined(first, &ConditionToken::And, Parser::comparison, Shape::All)
    }

    /// Reads the further operands of a chain, so that a long chain stays flat.
    fn joined(
        &mut self,
        first: Term,
        by: &ConditionToken,
        operand: fn(&mut Parser) -> Result<Term, Mistake>,
        shape: fn(Vec<Term>) -> Shape,
    ) -> Result<Term, Mistake> {
        let mut terms = vec![first];
        while self.peek() == Some(by) {
            self.next += 1;
            terms.push(operand(self)?);
        }
        if terms.len() == 1 {
            return Ok(terms.remove(0));
        }
        let at = terms[0].at.start..terms[terms.len() - 1].at.end;
        Ok(Term { at, shape: shape(terms) })
    }

    fn comparison(&mut self) -> Result<Term, Mistake> {
        let left = self.operand()?;
        let Some(ConditionToken::Compare(comparison)) = self.peek().cloned() else { return Ok(left) };
        self.next += 1;
        let right = self.operand()?;
        let at = left.at.start..right.at.end;
        Ok(Term { at, shape: Shape::Compare(Box::new(left), comparison, Box::new(right)) })
    }

    fn operand(&mut self) -> Result<Term, Mistake> {
        let here = self.here();
        let Some(token) = self.peek().cloned() else {
            return mistake(here, "the condition ends where a name or a value is expected");
        };
        self.next += 1;
        match token {
            ConditionToken::Literal(value) => Ok(Term { at: here, shape: Shape::Literal(value) }),
            ConditionToken::Name(name) => Ok(Term { at: here, shape: Shape::Name(name) }),
            ConditionToken::Not => {
                let inner = self.nested(&here, Parser::operand)?;
                Ok(Term { at: here.start..inner.at.end, shape: Shape::Not(Box::new(inner)) })
            }
            ConditionToken::Open => {
                let inner = self.nested(&here, Parser::either)?;
                if self.peek() != Some(&ConditionToken::Close) {
                    return self.unclosed(here);
                }
                let at = here.start..self.here().end;
                self.next += 1;
                Ok(Term { at, shape: inner.shape })
            }
            ConditionToken::Close | ConditionToken::And | ConditionToken::Or | ConditionToken::Compare(_) => {
                mistake(here, "expected a name or a value before this")
            }
        }
    }

    /// Says why a parenthesis is not closed: the end, or something that does not belong there.
    fn unclosed(&self, opened: Range<usize>) -> Result<Term, Mistake> {
        match self.peek() {
            None => mistake(opened, "this ( is never closed"),
            Some(ConditionToken::Compare(_)) => mistake(
                self.here(),
                "comparisons do not chain; write the two comparisons with && between them",
            ),
            Some(ConditionToken::Open) if self.follows_name() => {
                mistake(self.here(), "conditions have no functions; let a check supply the value")
            }
            Some(_) => mistake(self.here(), "expected && or || or ) before this"),
        }
    }

    fn nested(
        &mut self,
        here: &Range<usize>,
        inner: fn(&mut Parser) -> Result<Term, Mistake>,
    ) -> Result<Term, Mistake> {
        if self.depth == DEPTH_LIMIT {
            return mistake(here.clone(), format!("nested deeper than {DEPTH_LIMIT} levels"));
        }
        self.depth += 1;
        let term = inner(self);
        self.depth -= 1;
        term
    }
}
