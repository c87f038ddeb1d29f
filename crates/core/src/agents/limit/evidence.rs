//! Texts about a limit whose words nobody has listed. Two signs of different kinds are needed: that something
//! is used up, and a word that only a provider has for a person or a program (a status, an exception, "please
//! try again in 5s", "upgrade your plan"). A sentence about somebody's code has one of them, not both, and
//! where it has both it begins as people and agents begin who tell of their work.

use regex_lite::Regex;
use std::sync::LazyLock;

/// What words stand for; a time is read from the text around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhraseClass {
    Plan,
    Throttle,
    Overloaded,
    Credit,
    Auth,
    Context,
    Model,
    Refusal,
    Empty,
    Unreachable,
}

use PhraseClass::{Credit, Overloaded, Plan, Throttle};

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of ours")
}

/// What is used up, in the order in which it counts: money, then a provider that serves nobody, then a rate.
static USED_UP: LazyLock<[(Regex, PhraseClass); 3]> = LazyLock::new(|| {
    let over = "(?:reached|reaches|exceeded|exceeds?|exhausted|hit|used up|used all|throttled|limited|over)";
    let money =
        "(?:budget|spend(?:ing)? limit|credits|credit balance|balance|payment information|resource package)";
    let rate = "(?:limits?|quota|usage|allowance|rate|rpm|tpm|tpd|rpd|concurrency|concurrent|requests|tokens|frequency|calls)";
    let credit = format!(
        r"insufficient (?:balance|credits?|funds)|can only afford|\b{money}\b[^.;!]{{0,40}}\b{over}\b|\b(?:{over}|requires more|out of|run out of|no)\b[^.;!]{{0,60}}\b{money}\b|\bpayment information\b"
    );
    let overloaded = r"\boverloaded\b|\b(?:over|at|no|out of) capacity\b|\bcapacity (?:exceeded|exhausted)\b|\bhigh (?:demand|traffic|load)\b|\btoo busy\b|\btemporarily unavailable\b";
    let throttle = format!(
        r"\b{rate}\b[^.;!]{{0,60}}\b{over}\b|\b(?:{over}|out of)\b[^.;!]{{0,60}}\b{rate}\b|\btoo many (?:requests|tokens|calls)\b|\brate[- ]limit(?:ed|s|)\b|\bthrottled\b|\bhigh concurrency\b|\bexhausted\b"
    );
    [(pattern(&credit), Credit), (pattern(overloaded), Overloaded), (pattern(&throttle), Throttle)]
});

/// What a person or a program is told to do about it, or how much was used of how much.
static ASKED: LazyLock<Regex> = LazyLock::new(|| {
    let verbs = "try (?:your request )?again|retry|retrying|wait|upgrade|subscribe|add (?:more |\\d+ )?credits|purchase|buy|top up|recharge|contact|switch|consider|increase your (?:quota|limit|plan)|reduce (?:the |your )?(?:concurrency|frequency|prompt|message|request|rate|load)|submit|visit|sign up|learn more|(?:to|without) (?:continue|continuing|increase|restore|monitor|wait|waiting)";
    pattern(&format!(
        r"(?:^|[.,;:!?·|(\[{{\x22-] ?|\b(?:please|or|and|can) )(?:{verbs})\b|\bresets? (?:in|at|on|after) |\b(?:retry|retrying|again|wait) (?:after|in|for)? ?\d|\b(?:limit|used|requested|current|current cost|budget|remaining|spend)[:=]? \$?\d"
    ))
});

/// A status where a program reports one: at the beginning, or behind a word that announces it.
static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^[^\w]{0,4}|\] \[|\b(?:http|status|code|error|errors|rejected|failed|exception|answered|returned)\b[\w ]{0,20}[^\w]{0,4})(402|429|502|503|504|529)\b",
    )
});

static ENDS_WITH_STATUS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:http|status(?: code)?|code):? (?:402|429|502|503|504|529)\W{0,3}$"));

/// The name of an exception, or of a field's value, that says what happened.
static NAMED: LazyLock<[(Regex, PhraseClass); 3]> = LazyLock::new(|| {
    [
        (
            pattern(
                r"budget_exceeded|insufficient_?(?:quota|balance|credits|funds)|billing_|payment_required",
            ),
            Credit,
        ),
        (pattern(r"overloaded_?error|capacity_exhausted|engine_overloaded|server_overloaded"), Overloaded),
        (
            pattern(
                r"rate_?limit(?:ed|s|_\w+)?_?(?:error|exception)|rate_limit_\w+|\x22rate_limited\x22|ratelimit(?:error|exception)|too_?many_?requests_?(?:error|exception)|throttling(?:error|exception)|usage_?limit_?(?:error|exceeded|reached)|quota_?exceeded(?:error|exception)|\w+_quota_exceeded|\w+_rate_limited|resource_exhausted",
            ),
            Throttle,
        ),
    ]
});

/// How people and agents begin who tell of their work, and how tests and compilers begin.
static TOLD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^[^\w]{0,4}(?:(?:i|we|it|he|she|they) |(?:users?|clients?|when|if|once|after|because|see|this (?:test|change|commit|function|file|pr)|the (?:tests?|server|client|limiter|middleware|function|handler|code|docs?|readme|form|page|retry|loop|mock|fixture|suite|assertion|new|old|quota module|rate limiter)|add(?:ed|s)?|fix(?:ed|es)?|implement(?:ed|s)?|update[ds]?|merged?|installed?|wrote|renamed?|removed?|all|tests?|feat|docs|chore|refactor|fail:?|ok|pass(?:ed)?|assert\w*|e|note|warning|thread|running|todo|rate limit(?:s|ing|er)|quotas?|expected|left|right|diff|commit|step \d+|next|done|summary)\b|failed (?:tests?|\S+[/:.]\S)|error\[|\S+\.(?:rs|py|ts|js|go|java|rb|md|toml|json):|\S+ \.\.\. )",
    )
});

static OF_THE_MACHINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:memory|disk|open files|file size|stack|heap|recursion|descriptors?|inotify|core dumped|space left)\b",
    )
});

/// A window that is longer than a minute.
static WINDOW: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:hourly|daily|weekly|monthly|session|per[- ](?:hour|day|week|month)|tpd|rpd|free usage|free (?:tier|trial|requests|allocated)|usage limits?|individual|fair usage|quota (?:has been )?(?:reached|exceeded|exhausted)|reached the limit|free-models-per-day)\b",
    )
});

/// A window that ends by itself, however the text advises to buy more.
static RENEWS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(?:hourly|daily|weekly|session|per[- ](?:hour|day|week)|free-models)\b|^free usage")
});

/// Returns what the text is about if two signs of different kinds say that it is a limit. The text is in lower
/// case with single spaces.
pub(super) fn read(text: &str) -> Option<PhraseClass> {
    if is_told(text) { None } else { signs(text, false) }
}

/// The same for what a provider put into the fields of an answer, which is a sign too.
pub(super) fn of_answer(kind: &str, message: &str) -> Option<PhraseClass> {
    signs(&format!("{message} ({kind})"), true)
}

/// Whether somebody tells of work that was done, or a compiler or a test of what is wrong with it.
pub(super) fn is_told(text: &str) -> bool {
    TOLD.is_match(text)
}

/// Whether more can only be bought.
pub(super) fn is_for_sale(text: &str) -> bool {
    text.contains("payment information")
        || text.contains("payment method")
        || text.contains("on a paid basis")
}

fn signs(text: &str, is_answer: bool) -> Option<PhraseClass> {
    let named = NAMED.iter().find(|(row, _)| row.is_match(text)).map(|it| it.1);
    let status = STATUS.captures(text).filter(|it| announces(text, it)).and_then(|it| it[1].parse().ok());
    let used_up = USED_UP.iter().find(|(row, _)| row.is_match(text)).map(|it| it.1);
    // A machine has limits of its own.
    let used_up = used_up.filter(|_| !OF_THE_MACHINE.is_match(text));
    let is_asked = ASKED.is_match(text);
    let signs = [named.is_some(), status.is_some(), used_up.is_some(), is_asked, is_answer];
    let is_limit = 2 <= signs.iter().filter(|it| **it).count() && signs[..3].contains(&true);
    // Alone, a status says enough where an answer begins or ends with it.
    let is_all = begins_with_status(text) || ENDS_WITH_STATUS.is_match(text);
    let says_enough = is_limit || status.is_some() && is_all;
    if !says_enough {
        return None;
    }
    let renews = RENEWS.is_match(text);
    let by_status: Option<u16> = status;
    Some(match (named, used_up, by_status) {
        (_, Some(Overloaded), _) | (Some(Overloaded), _, _) => Overloaded,
        (Some(Credit), _, _) | (_, Some(Credit), _) | (_, _, Some(402)) if !renews => Credit,
        (_, _, Some(502..)) => Overloaded,
        _ if WINDOW.is_match(text) => Plan,
        _ => Throttle,
    })
}

fn begins_with_status(text: &str) -> bool {
    text.trim_start_matches(|it: char| !it.is_alphanumeric()).starts_with(|it: char| it.is_ascii_digit())
}

/// Whether a number is a status: "429 requests were sent" counts something.
fn announces(text: &str, found: &regex_lite::Captures<'_>) -> bool {
    const COUNTED: [&str; 20] = [
        "requests",
        "errors",
        "responses",
        "answers",
        "tests",
        "is",
        "are",
        "was",
        "were",
        "handling",
        "retries",
        "lines",
        "files",
        "passed",
        "failed",
        "times",
        "of",
        "bytes",
        "ms",
        "when",
    ];
    let after = found.get(1).map_or("", |it| &text[it.end()..]);
    let word = after.split(|it: char| !it.is_alphanumeric()).find(|it| !it.is_empty());
    !after.starts_with(' ') || word.is_none_or(|it| !COUNTED.contains(&it))
}
