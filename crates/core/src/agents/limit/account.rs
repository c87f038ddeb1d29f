//! Texts that say that a login, a key or an account is not accepted, in words that nobody has listed. As with
//! limits, one sign is not enough: beside what is wrong with the account there is an advice ("please sign in
//! again"), the name of somebody who serves models, or the beginning of an error. Git, SSH and registries refuse
//! logins too; those are not the agent's.

use regex_lite::Regex;
use std::sync::LazyLock;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of ours")
}

/// What is wrong with the login or the account.
static REFUSED: LazyLock<Regex> = LazyLock::new(|| {
    let rows = [
        r"\b(?:tokens?|session|credentials?|login|api key)\b[^.;!]{0,40}\b(?:expired|revoked|invalid|invalidated|not valid|could not be (?:refreshed|verified)|refresh failed|already (?:been )?used|not found or invalid)\b",
        r"\b(?:expired|revoked|invalid|incorrect|missing) (?:\w+ ){0,2}(?:tokens?|credentials?|api key|scopes?|grant)\b|\binvalid_grant\b",
        r"\b(?:failed|unable|could not|couldn't) to (?:refresh (?:the |your )?(?:\w+ )?token|log ?in|sign in|authenticate)\b|\b(?:token refresh|authentication|login) failed\b",
        r"\b(?:account|access|organi[sz]ation|workspace|project|subscription|key|admin(?:istrator)?)\b[^.;!]{0,40}\b(?:disabled|deactivated|paused|suspended|locked|banned|blocked|restricted|terminated|not eligible|ineligible|no longer a member|denied access|not authorized|not allowed|not permitted)\b",
        r"\b(?:caller|account|organi[sz]ation|workspace|project|user|key) (?:does not|doesn't) have (?:access|permission|a license)\b|\byou(?:'re| are) (?:restricted|blocked|banned) from\b",
    ];
    pattern(&rows.join("|"))
});

/// A status that stands for a refused login.
static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:http|status(?: code)?|code|error|failed)\b\W{0,3}40[13]\b|\b40[13] (?:unauthorized|forbidden)\b|\b(?:unauthenticated|permission_denied|permission_error|authentication_error)\b",
    )
});

/// What a person is told to do about it.
static ADVICE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:sign(?:ing)?|log(?:ging)?)[ -]?in again\b|\bplease (?:sign|log) ?in\b|/login\b|\bauth login\b|\b(?:run|type|use) `[^`]{1,40}`|\bcontact (?:support|your admin)|\bask your admin|\bobtain a new\b|\bre-?authenticate\b|\b(?:use|set|provide|check) (?:an?|your|the) (?:\w+ )?api key\b",
    )
});

/// Who serves models, and how programs begin to complain.
static NEAR_A_MODEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:openai|anthropic|claude|chatgpt|codex|gemini|vertex|bedrock|copilot|opencode|openrouter|qwen|oauth|api error)\b",
    )
});

static BEGINS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^[^\w]{0,6}(?:your |(?:\w+ ){0,2}?(?:error|failed|failure)\b|(?:token )?refresh)")
});

/// What refuses logins as well and serves no models.
static ELSEWHERE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:git|github|gitlab|ssh|publickey|remote:|unable to access|npm|registry|docker|cargo|pip|database|postgres|redis|sudo|tests?|fixtures?|spec|assert\w*|expected|middleware|handler|passwords?|usernames?|form|cookie|jwt)\b|\b\w+\.(?:rs|sh|py|ts|js|go|java|rb|md|toml)\b",
    )
});

/// Whether the text says that the provider does not accept the login or the account. It is in lower case with
/// single spaces.
pub(super) fn is_refused(text: &str) -> bool {
    let near = text.char_indices().nth(NEAR).map_or(text, |it| &text[..it.0]);
    if ELSEWHERE.is_match(near) {
        return false;
    }
    let (refused, status) = (REFUSED.is_match(near), STATUS.is_match(near));
    let is_near_a_model = ADVICE.is_match(near) || NEAR_A_MODEL.is_match(near);
    let is_reason = refused && (status || is_near_a_model || BEGINS.is_match(near));
    is_reason || status && is_near_a_model
}

/// What is wrong is said first; logs and quoted files may follow.
const NEAR: usize = 400;
