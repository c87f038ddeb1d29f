//! Texts about a limit whose words nobody has listed. A proof is needed: that something is used up, a status, or
//! the name of an exception; and beside it another proof, an advice ("please try again in 5s", "upgrade your
//! plan") or at least a hint (who serves models, "your", "Error:", "until tomorrow"). A sentence about somebody's
//! code has one of them, not both; `talk.rs` knows those that have both.

use super::talk;
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
    let over = "(?:reached|reaches|exceed(?:ed|s|ing)?|exhausted|hit|met|used up|used all|consumed|spent|drained|depleted|surpassed|maxed out|throttled|limited|over|ran out|running out|run out|at its limit)";
    let money = "(?:budget|spend(?:ing)? (?:limit|cap)|credits?|credit balance|balance|funds|payment information|resource package|prepaid)";
    let rate = "(?:limits?|quotas?|usage|allowance|rate|rpm|tpm|tpd|rpd|concurrency|concurrent|requests?|tokens?|frequency|calls|messages|prompts|turns|interactions|completions|allocation|allotment|entitlement|caps?|capacity)";
    let credit = [
        r"insufficient (?:\w+ )?(?:balance|credits?|funds|quota)|not[ -]enough[ -](?:\w+[ -])?(?:balance|credits?|funds)|can only afford",
        &format!(
            r"\b{money}\b[^.;!]{{0,40}}\b(?:{over}|too low|low|empty|negative|insufficient|required|expired|at zero|is 0)\b"
        ),
        &format!(r"\b(?:{over}|requires? more|out of|no|lack|add more)\b[^.;!]{{0,60}}\b{money}\b"),
        r"\bpayment (?:information\b|(?:is )?required\b)|\bcheck your (?:plan and )?billing\b",
        r"\b(?:billing|payment) (?:issue|problem|failed|not active|hard limit|details (?:are )?(?:missing|required))",
        r"\b(?:account|subscription) (?:is |has been )?(?:not active|inactive|expired|suspended|past due|in arrears)",
        r"\byou (?:must|need to|have to) (?:first )?subscribe\b|\b(?:needs?|requires?) an? (?:\w+ ){0,2}(?:subscription|paid plan)\b|\b(?:no active|not have an active) subscription\b",
        r"\b(?:outstanding|unpaid|overdue) (?:invoices?|balances?|payments?|bills?)\b|\b(?:free |your )?trial (?:has |is |period has )?(?:ended|expired|over)\b|\bfree trial accounts\b",
        r"\barrearage\b|\boverdue\b|余额不足|欠费|充值",
    ];
    let overloaded = [
        r"\boverload(?:ed|ing)?\b|\b(?:over|at|no|out of|insufficient|limited) (?:\w+ )?capacity\b|\bunder heavy\b",
        r"\bcapacity (?:is |has been )?(?:exceeded|exhausted|reached|constraints?|limits?)|负载|繁忙",
        r"\b(?:high|heavy|peak|increased|unusual) (?:demand|traffic|load|volume|usage)\b|\b(?:too|currently|very|is) busy\b",
        r"\bno (?:healthy|available) (?:\w+ )?(?:upstreams?|instances?|workers?|backends?|providers?|endpoints?|replicas?|channels?)\b|\b(?:partial|major|service|ongoing) outage\b",
        r"\b(?:temporarily|currently) (?:unavailable|down|out of service)\b|\b(?:service|server|backend|provider) (?:is )?(?:unavailable|busy)\b",
    ];
    let throttle = [
        &format!(r"\b{rate}\b[^.;!]{{0,60}}\b{over}\b"),
        &format!(r"\b(?:{over}|out of|no more|too many|maximum (?:number )?of)\b[^.;!]{{0,60}}\b{rate}\b"),
        r"\btoo (?:fast|quickly|frequently|often)\b|\brate[- ]limit(?:ed|s|ing|)\b|\bthrottl(?:ed|ing)\b|\bexhausted\b|\bslow down\b",
        r"\bno (?:\w+ )?(?:requests|messages|tokens|quota|usage) (?:left|remaining|available)\b|\b(?:usage|message|request|token) (?:limit|cap|quota)\b",
        r"\bused (?:up )?(?:all )?(?:of )?(?:today's|this (?:hour|week|month)'s)\b|\bused (?:up )?100 ?%",
        r"\bhigh concurrency\b|速率限制|限流|过于频繁|额度",
    ];
    let any = |rows: &[&str]| pattern(&rows.join("|"));
    [(any(&credit), Credit), (any(&overloaded), Overloaded), (any(&throttle), Throttle)]
});

/// What a person or a program is told to do about it, or how much was used of how much.
static ASKED: LazyLock<Regex> = LazyLock::new(|| {
    let verbs = "try (?:your request |sending )?again|retry|retrying|wait|waiting|upgrade|subscribe|add (?:more |\\d+ )?credits|purchase|buy|top[- ]up|recharge|contact|switch|consider|choose|use|enable|check|increase your (?:quota|limit|plan)|reduce (?:the |your )?(?:concurrency|frequency|prompt|message|request|rate|load)|slow down|come back|submit|visit|go to|see https?|sign up|learn more|more info|read the docs|(?:to|without) (?:continue|continuing|increase|restore|monitor|wait|waiting|get more|keep)";
    pattern(&format!(
        r"(?:^|[.,;:!?·|(\[{{\x22—–-] ?|\b(?:please|or|and|can|then|must|need to) )(?:{verbs})\b|\bresets? (?:in|at|on|after) |\b(?:retry|retrying|again|wait|waiting|back off) (?:after|in|for)? ?\d|\b(?:limit|used|requested|current|current cost|budget|remaining|spend|balance)[:=]? \$?\d|\b\d+ ?/ ?\d+\b"
    ))
});

/// Signs that prove nothing alone and something beside words for what is used up: who serves models, "you" and
/// "your", how programs begin to complain, and when it will be over.
static HINTS: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    [
        pattern(
            r"\b(?:openai|anthropic|claude|gpt|chatgpt|codex|gemini|google ai|vertex|bedrock|amazonq|azure|copilot|cursor|windsurf|openrouter|groq|mistral|codestral|deepseek|kimi|moonshot|qwen|dashscope|zhipu|glm|minimax|grok|xai|z\.ai|perplexity|cohere|together|fireworks|cerebras|hugging ?face|replicate|ollama|llm|litellm|providers?|api key|subscription|billing|premium requests?|(?:free|pro|paid) (?:tier|plan)|(?:ai|the|this) model)\b",
        ),
        pattern(r"\b(?:you've|you have|you are|you're|you will|your|we've|we're|our)\b"),
        pattern(
            r"^[^\w]{0,6}(?:[\w']+[ _-]){0,3}?(?:error|fatal|exception|failed|failure|sorry|oops|warning|aborted|request)\b|^[a-z_.]+(?:error|exception)\b|^[✕✖✗×⚠❌🚫🛑⛔■⎿◇]",
        ),
        pattern(
            r"\b(?:tomorrow|midnight|next (?:hour|day|week|month|billing)|(?:a few|a couple of|few) (?:seconds|minutes|hours)|a (?:moment|minute|while)|later|until|resets?|restored|replenish(?:es)?|renews?|refresh(?:es)?|per (?:minute|hour|day|week|month)|(?:hourly|daily|weekly|monthly))\b",
        ),
    ]
});

/// A status where a program reports one: at the beginning, or behind a word that announces it.
static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^[^\w]{0,4}|\] \[|\b(?:http(?:/\d(?:\.\d)?)?|status|code|error|errors|rejected|failed|exception|answered|returned|received|got|request)\b[\w ]{0,20}[^\w]{0,4})(402|429|50[0234]|52\d)\b",
    )
});

static ENDS_WITH_STATUS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:http|status(?: code)?|code):? (?:402|429|50[0234]|52\d)\W{0,3}$"));

/// The name of an exception, or of a field's value, that says what happened: one word, however it is written.
static NAMED: LazyLock<[(Regex, PhraseClass); 3]> = LazyLock::new(|| {
    let credit = r"budget_exceeded|insufficient_?(?:quota|balance|credits|funds)|billing_\w+|payment_?required|balance_\w+|credits?_(?:exhausted|depleted|exceeded|required)|(?:not|no)[_-](?:enough[_-])?(?:credits?|funds|balance)|arrearage";
    let overloaded = r"overloaded_?(?:error|exception)|capacity_?(?:exhausted|exceeded|error)|\w+_overloaded|service_?unavailable(?:_?(?:error|exception))?|model_?not_?ready";
    let throttle = r"rate_?limit(?:ed|s|_\w+)?_?(?:error|exception)|rate_limit\w*|ratelimit(?:ed|error|exception|reached|exceeded)|too_?many_?requests|throttl(?:ing|ed)_?(?:error|exception)|(?:usage|daily|weekly|monthly|message|spend)_?limit_?(?:error|exceeded|reached)|quota_?(?:exceeded|exhausted|limit\w*|reached)|\w+_quota_\w+|\w+_rate_limited|\w+_limit_(?:reached|exceeded)|resource_?exhausted|concurrency_?limit";
    [(pattern(credit), Credit), (pattern(overloaded), Overloaded), (pattern(throttle), Throttle)]
});

/// A machine and a program have limits of their own.
static OF_A_PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:memory|disk|files?|stack|heap|recursion|descriptors?|inotify|core dumped|space left|lines?|column|tests?|functions?|commits?|branch|merge|array|buffer|index|characters?|timeout|depth|database|sqlite|postgres|redis|docker|npm|github api|ledger|enum|variants?|constant|fixtures?|ticket|screenshot|demo)\b|\b\w+\.(?:rs|sh|py|ts|js|go|java|rb|md|toml|json)\b",
    )
});

/// A window that is longer than a minute.
static WINDOW: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:hourly|daily|today's|weekly|monthly|session|\d hour window|per[- ](?:hour|day|week|month)|tpd|rpd|free usage|free (?:tier|trial|requests|allocated)|usage limits?|individual|fair usage|quota (?:has been )?(?:reached|exceeded|exhausted)|reached the limit|free-models-per-day)\b",
    )
});

/// A window that ends by itself, however the text advises to buy more.
static RENEWS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:hourly|daily|weekly|session|5-hour|per[- ](?:minute|hour|day|week)|free-models)\b|^free usage",
    )
});

/// Returns what the text is about if two signs of different kinds say that it is a limit. The text is in lower
/// case with single spaces.
pub(super) fn read(text: &str) -> Option<PhraseClass> {
    if talk::is_told(text) { None } else { signs(text, false) }
}

/// The same for what a provider put into the fields of an answer, which is a sign too.
pub(super) fn of_answer(kind: &str, message: &str) -> Option<PhraseClass> {
    signs(&format!("{message} ({kind})"), true)
}

/// Whether what is used up is money that does not come back by itself.
pub(super) fn is_money(used_up: &str, text: &str) -> bool {
    (used_up.contains("credit") || used_up.contains("balance")) && !RENEWS.is_match(text)
}

/// Whether a connection broke: two signs again, so that a service of the project's own is none.
pub(super) fn is_broken_off(text: &str) -> bool {
    let near = text.char_indices().nth(NEAR).map_or(text, |it| &text[..it.0]);
    let told = talk::is_told(near) || OF_A_PROGRAM.is_match(near);
    !told && BROKEN_OFF.is_match(near) && HINTS.iter().any(|it| it.is_match(near))
}

/// Whether a database or a container is named, which the project has for itself.
pub(super) fn names_a_service_of_the_project(text: &str) -> bool {
    OWN_SERVICE.is_match(text)
}

static OWN_SERVICE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(?:postgres(?:ql)?|mysql|mariadb|sqlite|mongo(?:db)?|redis|database|docker|container)\b")
});

/// What broke is said first.
const NEAR: usize = 200;

static BROKEN_OFF: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:network|connection|socket|stream(?:ing)?) (?:error|failure)\b|\b(?:connection|stream|socket) (?:was |has been |is )?(?:lost|reset|closed|aborted|interrupted|terminated|dropped|timed out)\b|\bsocket hang up\b|\bpremature close\b|\berror decoding response body\b|\bincomplete chunked\b",
    )
});

/// Whether more can only be bought.
pub(super) fn is_for_sale(text: &str) -> bool {
    text.contains("payment information")
        || text.contains("payment method")
        || text.contains("on a paid basis")
}

/// Returns the status that a program reports in a text.
pub(super) fn status(text: &str) -> Option<u16> {
    STATUS.captures(text).filter(|it| announces(text, it)).and_then(|it| it[1].parse().ok())
}

fn signs(text: &str, is_answer: bool) -> Option<PhraseClass> {
    let named = NAMED.iter().find(|(row, _)| row.is_match(text)).map(|it| it.1);
    let status = status(text);
    let used_up = USED_UP.iter().find(|(row, _)| row.is_match(text)).map(|it| it.1);
    let used_up = used_up.filter(|_| !OF_A_PROGRAM.is_match(text));
    let proofs = [named.is_some(), status.is_some(), used_up.is_some()];
    let asked = [ASKED.is_match(text), is_answer];
    let weight = PROOF * count(&proofs) + PROOF * count(&asked);
    let weight = weight + HINTS.iter().filter(|it| it.is_match(text)).count();
    let is_limit = ENOUGH <= weight && proofs.contains(&true);
    // Alone, a status says enough where an answer begins or ends with it.
    let is_all = begins_with_status(text) || ENDS_WITH_STATUS.is_match(text);
    let says_enough = is_limit || status.is_some() && is_all;
    if !says_enough {
        return None;
    }
    let renews = RENEWS.is_match(text);
    Some(match (named, used_up, status) {
        (Some(Overloaded), _, _) => Overloaded,
        // "High demand: limited to 8 requests per minute" ends by itself.
        (_, Some(Overloaded), _) if !RATED.is_match(text) => Overloaded,
        (Some(Credit), _, _) | (_, Some(Credit), _) | (_, _, Some(402)) if !renews => Credit,
        (_, _, Some(500..)) => Overloaded,
        _ if WINDOW.is_match(text) => Plan,
        _ => Throttle,
    })
}

/// What a proof weighs, where a hint weighs one.
const PROOF: usize = 2;

/// A proof and a hint. With less, sentences about somebody's code are taken for limits.
const ENOUGH: usize = 3;

fn count(signs: &[bool]) -> usize {
    signs.iter().filter(|it| **it).count()
}

static RATED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\brate[- ]limit|\blimited to \d|\bquota\b|\bexceeds the max"));

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
