//! The words in which agents and providers say that they will not serve a call. A phrase counts only
//! at the beginning of what was said: in the middle of a sentence it is talk about limits.

use super::super::CallExit;
use super::evidence::{self, PhraseClass};
use super::{Limit, account, talk, when};
use crate::agent_table::Stream;
use loop_base::time::Timestamp;
use regex_lite::Regex;
use std::sync::LazyLock;

use PhraseClass::{Auth, Context, Credit, Empty, Model, Overloaded, Plan, Refusal, Throttle, Unreachable};

/// The first phrase that fits counts, so the narrower ones stand first. All in lower case, with
/// straight apostrophes and single spaces, as [`plain`] makes them; after `…` a word that must follow.
const PHRASES: &[(&str, PhraseClass)] = &[
    ("you've hit your monthly spend limit", Credit),
    ("your org is out of usage", Credit),
    ("you've hit your … limit", Plan),
    ("you've reached your … limit", Plan),
    ("you're out of extra usage", Plan),
    ("you're out of usage credits", Plan),
    ("claude ai usage limit reached", Plan),
    ("claude usage limit reached", Plan),
    ("usage limit reached", Plan),
    ("5-hour limit reached", Plan),
    ("session limit reached", Plan),
    ("weekly limit reached", Plan),
    ("opus limit reached", Plan),
    ("opus weekly limit reached", Plan),
    ("sonnet limit reached", Plan),
    ("the usage limit has been reached", Plan),
    ("you have exhausted your daily quota", Plan),
    ("you have exhausted your capacity", Plan),
    ("credit balance is too low", Credit),
    ("your credit balance is too low", Credit),
    ("quota exceeded. check your plan", Credit),
    ("you exceeded your current quota, please check your plan and billing", Credit),
    ("insufficient_quota", Credit),
    ("insufficient credits", Credit),
    ("this request requires more credits", Credit),
    ("usage credits required", Credit),
    ("you exceeded your current quota", Throttle),
    ("resource has been exhausted", Throttle),
    ("rate limit reached", Throttle),
    ("rate limit exceeded", Throttle),
    ("rate limited", Throttle),
    ("too many requests", Throttle),
    ("too many tokens, please wait", Throttle),
    ("request rejected (429)", Throttle),
    ("exceeded retry limit, last status: 429", Throttle),
    ("this request would exceed your account's rate limit", Throttle),
    ("overloaded", Overloaded),
    ("the model is overloaded", Overloaded),
    ("the service is currently unavailable", Overloaded),
    ("selected model is at capacity", Overloaded),
    ("invalid api key", Auth),
    ("incorrect api key", Auth),
    ("api key not valid", Auth),
    ("exceeded retry limit, last status: 401", Auth),
    ("exceeded retry limit, last status: 403", Auth),
    ("not logged in", Auth),
    ("please run /login", Auth),
    ("failed to authenticate", Auth),
    ("missing environment variable", Auth),
    ("your access token could not be refreshed", Auth),
    ("oauth token has expired", Auth),
    ("prompt is too long", Context),
    ("input is too long", Context),
    ("codex ran out of room in the model's context window", Context),
    ("this model's maximum context length", Context),
    ("input length and `max_tokens` exceed context limit", Context),
    ("the model returned an empty response", Empty),
    ("model stream ended with empty response", Empty),
    ("no response was returned", Empty),
    ("unable to connect to", Unreachable),
    ("could not connect to", Unreachable),
    ("connection dropped", Unreachable),
    ("connection timed out", Unreachable),
    ("connection error", Unreachable),
    ("connection refused", Unreachable),
    ("connection reset", Unreachable),
    ("connection closed", Unreachable),
    ("network error", Unreachable),
    ("fetch failed sending request", Unreachable),
    ("fetch failed", Unreachable),
    ("exception typeerror: fetch failed", Unreachable),
    ("getaddrinfo", Unreachable),
    ("error sending request", Unreachable),
    ("stream disconnected before completion", Unreachable),
    ("stream error: ", Unreachable),
    ("request timed out", Unreachable),
    ("cannot connect to api", Unreachable),
    ("the socket connection was closed", Unreachable),
];

/// Returns what the text says about a limit, if that is what it is about.
pub(super) fn read(stream: Stream, text: &str, end: &CallExit<'_>) -> Option<Limit> {
    let text = untagged(plain(text));
    let (said, is_reported) = without_reporters(unwrapped(&text));
    // A stream may break because of what is said behind it.
    if let Some(reason) = said.strip_prefix(BROKEN_STREAM).and_then(|it| read(stream, it, end)) {
        return Some(reason);
    }
    if talk::is_about_code(&text[..text.floor(CODE_NEAR)]) || talk::is_about_work(&text) {
        return None;
    }
    let listed = PHRASES.iter().find(|(phrase, _)| begins(said, phrase, is_reported)).map(|it| it.1);
    let near = &said[..said.floor(CODE_NEAR)];
    let network = || NETWORK.iter().any(|it| near.contains(it)).then_some(Unreachable);
    let class = listed.or_else(|| by_grammar(said, is_reported)).or_else(network);
    let unquoted = QUOTED.replace_all(&text, "… $1");
    let class = class.or_else(|| if talk::is_told(&text) { None } else { by_code(&unquoted) });
    // An answer that came and could not be read: the next one will be no better.
    let is_no_outage = || UNREADABLE.is_match(near) || evidence::names_a_service_of_the_project(near);
    let class = class.filter(|it| *it != Unreachable || !is_no_outage());
    let class = class.or_else(|| evidence::read(&unquoted));
    let refused = || (!talk::is_told(&text) && account::is_refused(&text)).then_some(Auth);
    let broken_off = || (!UNREADABLE.is_match(near) && evidence::is_broken_off(&text)).then_some(Unreachable);
    let class = class.or_else(refused).or_else(broken_off)?;
    Some(limit(class, stream, &text, end))
}

/// Takes off the word in brackets with which a program says what its line is about.
fn untagged(text: String) -> String {
    let rest = TAG.find(&text).map(|it| text[it.end()..].to_owned());
    rest.unwrap_or(text)
}

static TAG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\[(?:quota|usage|limits?|rate[- ]?limits?|agent|provider|error)\] ")
        .expect("a pattern of ours")
});

/// Words in quotes that the sentence goes on behind: it is about those words. What a provider said stands at the
/// end, or in an answer of its own.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:\x22[^\x22{}]{3,200}\x22|`[^`{}]{3,200}`)[;,]? ([a-z])").expect("a pattern of ours")
});

const BROKEN_STREAM: &str = "stream disconnected before completion: ";

/// Returns until when a limit lasts by the words anywhere in the text.
pub(super) fn until(text: &str, end: &CallExit<'_>) -> Option<Timestamp> {
    when::until(&plain(text), end.now, end.zone)
}

/// Returns the status that a program reports in the text.
pub(super) fn status(text: &str) -> Option<u16> {
    evidence::status(&plain(text))
}

static UNREADABLE: LazyLock<Regex> = LazyLock::new(|| {
    let row = r"\b(?:failed to (?:parse|deserialize|decode)|invalid (?:number|type|json)|missing field|unexpected token|not valid json)\b";
    Regex::new(row).expect("a pattern of ours")
});

/// Returns what the fields of a provider's answer say about a limit.
pub(super) fn of_answer(stream: Stream, kind: &str, message: &str, end: &CallExit<'_>) -> Option<Limit> {
    let (kind, message) = (plain(kind), plain(message));
    let class = evidence::of_answer(&kind, &message)?;
    Some(limit(class, stream, &message, end))
}

fn limit(class: PhraseClass, stream: Stream, text: &str, end: &CallExit<'_>) -> Limit {
    match class {
        PhraseClass::Plan => match when::until(text, end.now, end.zone) {
            None if evidence::is_for_sale(text) => Limit::Credit,
            until => Limit::Plan { until },
        },
        PhraseClass::Throttle => {
            Limit::Throttle { after: when::until(text, end.now, end.zone).map(|it| it.since(end.now)) }
        }
        PhraseClass::Overloaded => Limit::Overloaded,
        // Gemini's free quota has the words that other providers use for an empty account.
        PhraseClass::Credit if stream == Stream::Gemini => Limit::Throttle { after: None },
        // Where a time is named, waiting helps.
        PhraseClass::Credit => match when::until(text, end.now, end.zone) {
            Some(until) => Limit::Throttle { after: Some(until.since(end.now)) },
            None => Limit::Credit,
        },
        PhraseClass::Auth => Limit::Auth,
        PhraseClass::Context => Limit::ContextTooLong,
        PhraseClass::Model => Limit::UnknownModel,
        PhraseClass::Refusal => Limit::Refusal,
        PhraseClass::Empty => Limit::Empty,
        PhraseClass::Unreachable => Limit::Unreachable,
    }
}

/// The system's own words for a connection that failed, as agents put them behind a sentence of
/// theirs that changes with every version.
const NETWORK: &[&str] = &[
    "(econnreset)",
    "(econnrefused)",
    "(connectionrefused)",
    "(enotfound)",
    "(eai_again)",
    "(etimedout)",
    "(ehostunreach)",
    "(enetunreach)",
    "(epipe)",
    "(connectionclosed)",
];

/// The sentence before them is short.
const CODE_NEAR: usize = 120;

/// What programs put before the words that matter.
const BEFORE: &[&str] = &[
    "api error: ",
    "api error (",
    "error: ",
    "error - ",
    "fatal: ",
    "failed: ",
    "exception: ",
    "ai_apicallerror: ",
    "apierror: ",
    "provider returned error: ",
    "unexpected status ",
    "too many requests: ",
    "sorry, ",
    "oops! ",
];

/// How sentences about a limit are built, for those that nobody has seen. Which words may stand before the
/// one that counts is a closed list, so that a sentence about somebody's code does not fit.
static GRAMMAR: LazyLock<Vec<(Regex, PhraseClass)>> = LazyLock::new(|| {
    let thing = "(?:usage |rate |request |token |message |spending |spend |free |included |premium )*(?:limits?|quota|usage|allowance|credits?|tokens|requests|messages|capacity|cap|balance)";
    let which = "(?:(?:the|your|its|this|our|api|usage|rate|requests?|tokens?|input|output|messages?|chat|maximum|number|of|allowed|daily|weekly|monthly|hourly|per-minute|session|plan|plan's|account|account's|organi[sz]ation|organi[sz]ation's|org's|workspace|team|user|free|tier|free-tier|premium|model|model's|opus|sonnet|haiku|claude|codex|gemini|gpt|copilot|qwen|ai|pro|max|plus|5-hour|five-hour|24-hour|7-day|current|billing|spend|spending|credit|concurrent|concurrency|resource|key) )*";
    let over = "(?:hit|reached|exceeded|exhausted|used up|used all(?: of)?|run out of|ran out of|out of|over|depleted|consumed|maxed out)";
    let rows: Vec<(String, PhraseClass)> = vec![
        (r"^this request would exceed (?:the|your|our) [\w' ]{0,40}rate limit".to_owned(), Throttle),
        (r"^(?:exceeded|reached|hit) (?:the|your|our) (?:[\w-]+ ){0,3}(?:rate|usage|requests?|messages?|tokens?)(?: rate)? limit\b".to_owned(), Throttle),
        (r"^number of [\w ]{0,30}(?:tokens|requests) has exceeded your [\w -]{0,30}limit".to_owned(), Throttle),
        (format!(r"^{which}rate[- ]limit\b.{{0,40}}\b(?:exceeded|reached|hit)\b"), Throttle),
        (r"^(?:you have |there (?:is|are) |you've got )no (?:more |remaining )?(?:quota|credits?|tokens|requests|usage|balance)".to_owned(), Credit),
        (r"^(?:due to |because of |there is |we are |we're |currently |seeing |experiencing )*(?:unusually |very |extremely )?(?:high|heavy) (?:demand|load|traffic)".to_owned(), Overloaded),
        (r"^request(?: is)? too large\b".to_owned(), Context),
        (format!(r"^(?:{which})?(?:credit |prepaid |account )?balance (?:is )?(?:too low|insufficient|exhausted|depleted|zero)"), Credit),
        (r"^(?:insufficient (?:credits?|funds|balance|quota)|payment required|billing (?:hard )?limit|no (?:remaining )?credits|out of credits)".to_owned(), Credit),
        (r"^(?:you are|you're|we're|we are) (?:being |currently )?(?:rate[- ]limited|throttled|sending requests too)".to_owned(), Throttle),
        (format!(r"^{which}(?:rate|requests?|tokens?|concurrency|concurrent requests?|per[- ]minute)(?: rate)? (?:limits?|quota) (?:has been |was |is |for \S+ )*(?:reached|exceeded|hit)"), Throttle),
        (r"^(?:requests?|this request|your request) (?:was |were |is |has been )?(?:throttled|rate[- ]limited)".to_owned(), Throttle),
        (format!(r"^you(?:'ve| have) (?:already |now )?{over} (?:of )?(?:all )?(?:your |the )?(?:available |monthly |included |remaining |prepaid )+credits?\b"), Credit),
        (format!(r"^(?:you(?:'ve|'re| have| are)?|this (?:account|organi[sz]ation|workspace|key)(?: has| is)?|your (?:account|organi[sz]ation|plan|team|workspace|key|subscription)(?: has| is)?) (?:already |now |just |currently )?{over} (?:of )?(?:all )?{which}{thing}\b"), Plan),
        (format!(r"^{which}(?:limits?|quota|allowance|cap)(?: for \S+)? (?:has been |have been |was |is |are )?(?:reached|exceeded|exhausted|hit|used up|depleted)\b"), Plan),
        (r"^(?:no|0) (?:more )?(?:premium )?(?:requests|messages|tokens|usage) (?:left|remaining)".to_owned(), Plan),
        (r"^(?:the |our |this )?(?:model|servers?|service|engine|api|provider|system|upstream)(?: provider)? (?:is|are) (?:currently |temporarily )?(?:overloaded|unavailable|at capacity|too busy|busy|experiencing)".to_owned(), Overloaded),
        (r"^(?:service (?:temporarily )?unavailable|internal server error|bad gateway|gateway time-?out|unexpected server error|server error|temporarily unavailable|upstream (?:error|connect))".to_owned(), Overloaded),
        (r"^(?:your |the |this )?(?:prompt|conversation|input|request|messages?)\b.{0,40}\b(?:exceeds?|exceeded|is too (?:long|large) for|larger than|longer than)\b.{0,40}\b(?:context|tokens?|model)".to_owned(), Context),
        (r"^(?:the )?(?:input )?token count\b.{0,40}\bexceeds".to_owned(), Context),
        (r"^(?:maximum )?context (?:window|length|limit)(?: is)? (?:exceeded|overflow|reached)".to_owned(), Context),
        (r"^(?:the |requested )*model:? [`'(\x22]*[a-z]+[-.:/0-9][\w.:/-]*[`')\x22]* .{0,40}(?:not found|does not exist|not exist|is not supported|not available|is invalid)".to_owned(), Model),
        (r"^(?:unknown|invalid|unsupported) model(?::| name| id|$)|^no such model|^models/\S+ is not found|^the [`'\x22][^`'\x22]{1,80}[`'\x22] model is not supported|^model: [\w.:/@-]+$|^there's an issue with the selected model|^model not found".to_owned(), Model),
        (r"(?:violate our usage policy|violates? (?:our|the) (?:usage|content|safety) polic|blocked (?:by|due to|because of) (?:safety|our safety|content|the safety)|flagged (?:as|for) (?:potentially )?violating|finish(?:ed with)? reason:? (?:safety|prohibited_content|blocklist|recitation)|response was blocked|safeguards flagged this message)".to_owned(), Refusal),
    ];
    rows.into_iter().map(|(row, class)| (Regex::new(&row).expect("a pattern of ours"), class)).collect()
});

fn by_grammar(text: &str, is_reported: bool) -> Option<PhraseClass> {
    // What is said first is what happened; a quoted answer may follow.
    let near = &text[..text.floor(GRAMMAR_NEAR)];
    let find = |row: &Regex| row.find(near).filter(|it| !is_reported || is_whole(&near[it.end()..]));
    let (found, class) = GRAMMAR.iter().find_map(|(row, class)| Some((find(row)?, *class)))?;
    let is_money = class == Plan && evidence::is_money(found.as_str(), text);
    Some(if is_money { Credit } else { class })
}

const GRAMMAR_NEAR: usize = 240;

/// Words that only a provider's answer has, wherever they stand in it.
static CODES: LazyLock<Vec<(Regex, PhraseClass)>> = LazyLock::new(|| {
    let rows = [
        (r"due to insufficient balance|余额不足|insufficient_(?:quota|credits|balance)", Credit),
        (r"\b(?:resource_exhausted|rate_limit_exceeded|too_many_requests|throttlingexception)\b", Throttle),
        (r"\b(?:http|status|code)(?: error)?[ :=]{1,3}429 ?[-:{(]", Throttle),
        (r"\b(?:http|status|code)(?: error)?[ :=]{1,3}(?:502|503|504|529) ?[-:{(]", Overloaded),
    ];
    rows.into_iter().map(|(row, class)| (Regex::new(row).expect("a pattern of ours"), class)).collect()
});

fn by_code(text: &str) -> Option<PhraseClass> {
    CODES.iter().find(|(row, _)| row.is_match(text)).map(|it| it.1)
}

fn begins(text: &str, phrase: &str, is_reported: bool) -> bool {
    match phrase.split_once('…') {
        None => text.strip_prefix(phrase).is_some_and(|it| !is_reported || is_whole(it)),
        Some((front, back)) => {
            // The word between is a plan's or a model's name, so it is near.
            let near = text.strip_prefix(front.trim_end()).and_then(|it| it.get(..it.floor(NEAR)));
            near.is_some_and(|it| it.contains(back))
        }
    }
}

/// The longest name that was seen is "org's monthly usage".
const NEAR: usize = 40;

trait Floor {
    fn floor(&self, at: usize) -> usize;
}

impl Floor for str {
    /// Returns the last place up to `at` that lies between two characters.
    fn floor(&self, at: usize) -> usize {
        (0..=at.min(self.len())).rev().find(|it| self.is_char_boundary(*it)).unwrap_or(0)
    }
}

/// What libraries and gateways put before a provider's words, once or several times: the name of an
/// exception, who failed at what, and how often.
static REPORTER: LazyLock<Regex> = LazyLock::new(|| {
    let row = r"^(?:[^\w{]{0,4}(?:[\w ./'()-]{0,60}?(?:error|exception|failed|failure|status)[\w ()]{0,30}(?::| -) |failed after \d+ attempts?[.,] |(?:last error|undefined): |[a-z]+ (?:rate|usage) limit reached: )|\d{3}(?: -|:) )";
    Regex::new(row).expect("a pattern of ours")
});

/// Reporters of one error that are taken off.
const REPORTERS_MOST: usize = 8;

/// Returns what was said without those who report it, and whether there were any.
fn without_reporters(text: &str) -> (&str, bool) {
    let mut said = text;
    for _ in 0..REPORTERS_MOST {
        let Some(reporter) = REPORTER.find(said) else { break };
        said = unwrapped(said[reporter.end()..].trim_start());
    }
    (said, said.len() < text.len())
}

/// Whether a phrase ends where these words begin. "failed: rate limit exceeded is not raised" is about
/// somebody's code.
fn is_whole(after: &str) -> bool {
    const MAY_FOLLOW: [&str; 15] = [
        "for", "in", "on", "of", "to", "by", "until", "please", "try", "this", "your", "with", "at",
        "before", "details",
    ];
    match after.trim_start().split(|it: char| !it.is_alphanumeric()).next() {
        None | Some("") => true,
        Some(word) => !after.starts_with(' ') || MAY_FOLLOW.contains(&word),
    }
}

const TRIED_IN_VAIN: &str = "failed to get response from the ai model";

/// Removes what the agents put before a provider's own words.
fn unwrapped(text: &str) -> &str {
    let mut text = text.strip_prefix('[').unwrap_or(text);
    // Some tell first how often they tried.
    if let Some(last) = text.strip_prefix(TRIED_IN_VAIN).and_then(|it| it.split_once("last error: ")) {
        text = last.1;
    }
    while let Some(rest) = BEFORE.iter().find_map(|it| text.strip_prefix(it)) {
        text = rest.trim_start();
    }
    // A status, as in "529 overloaded".
    match text.split_at_checked(4) {
        Some((status, rest))
            if status.ends_with(' ') && status[..3].bytes().all(|it| it.is_ascii_digit()) =>
        {
            rest
        }
        Some(_) | None => text,
    }
}

/// Messages differ between versions in apostrophes, in kinds of spaces and in case.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len().min(MOST));
    for character in text.trim_start().chars().take(MOST) {
        match character {
            '\u{2018}' | '\u{2019}' => plain.push('\''),
            _ if character.is_whitespace() => {
                if !plain.ends_with(' ') {
                    plain.push(' ');
                }
            }
            _ => plain.extend(character.to_lowercase()),
        }
    }
    plain
}

/// A sentence about a limit has at most some hundred characters; an answer quoted after it may have
/// any number.
const MOST: usize = 2000;
