//! Texts that tell of limits instead of meeting one: descriptions of changes, reports of tests and compilers, logs of
//! servers, and services that serve no models. What decides is how the sentence is built, so that no list of
//! sentences is needed: who meets a limit writes that something *is* used up, says so at once, and to "you".

use regex_lite::Regex;
use std::sync::LazyLock;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of ours")
}

/// How people and agents begin who tell of their work, and how tests and compilers begin.
static TOLD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^[^\w]{0,4}(?:(?:i|we|it|he|she|they) |(?:users?|clients?|when|if|once|after|because|see|this (?:test|change|commit|function|file|pr)|the (?:tests?|server|client|limiter|middleware|function|handler|code|docs?|readme|form|page|retry|loop|mock|fixture|suite|assertion|new|old|quota module|rate limiter)|add(?:ed|s)?|fix(?:ed|es)?|implement(?:ed|s)?|update[ds]?|merged?|installed?|wrote|renamed?|removed?|all|tests?|feat|docs|chore|refactor|fail:?|ok|pass(?:ed)?|assert\w*|e|note|warning|thread|running|todo|rate limit(?:s|ing|er)|quotas?|expected|left|right|diff|commit|step \d+|next|done|summary)\b|failed (?:tests?|\S+[/:.]\S)|error\[|\S+\.(?:rs|py|ts|js|go|java|rb|md|toml|json):|\S+ \.\.\. )",
    )
});

/// Whether somebody tells of work that was done, or a compiler or a test of what is wrong with it.
pub(super) fn is_told(text: &str) -> bool {
    TOLD.is_match(text) && !TELLS_THE_END.is_match(text)
}

/// "Quota resets at 8:00: you have used all of it": who is told when it ends, met it.
static TELLS_THE_END: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[^\w]{0,4}(?:rate limits?|quotas?) (?:will )?resets? (?:at|on|in) .*\byou"));

/// Whether a line among others is one of a document or of a test's report: a heading, an entry of a list, and what
/// stands above the values that a test compares.
pub(super) fn is_of_a_document(lines: &[&str], at: usize) -> bool {
    let is_heading = |it: &str| {
        it.trim_start().trim_start_matches('#').starts_with(' ') && it.trim_start().starts_with('#')
    };
    let is_entry = |it: &str| ["- ", "* "].iter().any(|mark| it.trim_start().starts_with(mark));
    let is_listed = |it: usize| lines.get(it).is_some_and(|it| is_heading(it) || is_entry(it));
    let is_list = is_entry(lines[at]) && (is_listed(at + 1) || 0 < at && is_listed(at - 1));
    let compared = lines[at..].iter().take(3).any(|it| COMPARED.is_match(it));
    is_heading(lines[at]) || is_list || compared
}

/// A value that a test compares, in a line of its own.
static COMPARED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*[-+]?\s*(?:[Ee]xpected|[Rr]eceived|[Aa]ctual|left|right)(?: value)?:\s"));

/// Whether a sentence speaks of refused calls in general, as documents and descriptions of changes do: of what is
/// done about them, how often they come, or what would bring one about. A refusal speaks of this one call.
pub(super) fn is_general(text: &str) -> bool {
    let narrates = NARRATES.captures(text).is_some_and(|it| !of_a_refusal(&it[1]));
    narrates || GENERAL.iter().any(|it| it.is_match(text))
}

/// "Verified that", "Introduces a": who begins with a verb tells what was done.
static NARRATES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^[^\w\[({]{0,6}(\w+(?:ed|[a-rt-z]s|ing)) (?:that|the|an?|how|whether|to the|of the|\w+(?:ful|ic|al|ary|able|ized)) ",
    )
});

/// Whether a verb is one of a refusal: "Exceeded the rate limit", "Reached your quota", "Retrying in 5s".
fn of_a_refusal(verb: &str) -> bool {
    const STEMS: [&str; 22] = [
        "exceed", "reach", "fail", "reject", "throttl", "limit", "abort", "exhaust", "block", "deni",
        "deplet", "expir", "stopp", "terminat", "overload", "retry", "wait", "unexpect", "allocat", "repeat",
        "request", "token",
    ];
    STEMS.iter().any(|it| verb.starts_with(it))
}

static GENERAL: LazyLock<[Regex; 9]> = LazyLock::new(|| {
    [
        // How often, and who in general.
        r"\b(?:intermittently|sometimes|occasionally|randomly|we often|keeps? (?:getting|hitting)|flaky|apparently|no longer|(?:is|are) now)\b|^(?:many|most|some|several|these|those|both|often) ",
        // "a 429", "with `429`", "429 responses": a status as a thing.
        r"\b(?:an?|any|the|these|occasional|some|every|as|expect(?:ed)?) (?:(?:\w+ )?http )?(?:status )?(?:code )?[`'\x22]?(?:429|503|529)s?\b|`(?:http )?(?:429|50[0234]|529)(?: [a-z ]{3,30})?`|\b(?:429|503|529)s\b|\b(?:429|503|529)(?: \([a-z ]{3,30}\)| too many requests)? (?:responses|errors|retries|handling|pages?|means)\b",
        // The present tense of a program, in which code and documents are described.
        r"\b(?:returns|responds|now answers|throws|rejects|raises|enforces|handles|triggers|verifies|ensures|implements|prevents|introduces|supports|respects|honou?rs|causes) \S",
        // What may, should or will happen, and when.
        r"\b(?:may|might|should|could|will) (?:(?:not|now|also|then|still|only|eventually|never) )?(?:return|respond|reject|throw|allow|block|handle|get|hit|exceed|see|receive|result|cause|show|include|trigger|lead|begin|succeed)\b|\bonce (?:the|a|an) (?:client|user|caller)\b|\bshould (?:not )?be\b|\bwill be (?:rejected|blocked|throttled|queued|dropped|denied|limited)\b|\bwhen(?:ever)? (?:hitting|exceeding|reaching|going over|rate[- ]limited|throttled)\b",
        // The first person, and questions.
        r"\b(?:my|i've|i have)\b|^(?:how|why|is|are|can|what|should|do|does|could|has|have|did|any)\b.*\?$",
        // Marks of change logs, issues, pull requests and documents.
        r"\(#\d+\)|\b(?:fix(?:es)?|closes?|resolves?|see|pr|issue) #\d+|^[-*] (?:\[[ x]\]|\*\*) |^(?:feat|feature|enhancement|improvement|bug|fix|docs|chore|refactor|perf|test|ci|build|style|revert)(?:\([^)]{1,40}\))?!?: |^\|.*\|$",
        // Lines of code, of logs that tell no error, and of tests.
        r"^(?:return|throw|const|let|var|await|raise)\b.*[({]|\);$|^[^a-z]{0,40}(?:info|debug|trace)\b|^ ?[✓✔✕✗] .*\(\d+ ?m?s\)$",
        // Limiting as a thing that somebody builds or is under.
        r"\brate[- ]limiting (?:is|was|for|to|on|in|logic|middleware|behaviou?r|tests?|rules?|support|strateg|config|polic|algorithm|mechanism|feature|layer|works|succeeds|fails)",
        r"\brate[- ]limit(?:er|ers|ing)? (?:tests?|middleware|config\w*|headers?|handling|logic|polic(?:y|ies)|support|window|bucket)\b|\b(?:token|leaky) bucket\b",
    ]
    .map(pattern)
});

/// Whether a text is about the project and its tools, whatever limits it names: a report of tests or compilers, a
/// service that serves no models, a notice after which the agent worked on, or what somebody tells of work.
pub(super) fn is_about_work(text: &str) -> bool {
    OF_TOOLS.is_match(text)
        || WORKED_ON.is_match(text)
        || REPORTED.is_match(text)
        || is_general(text)
        || is_of_another_service(text)
}

/// Whether a service refused a call that serves no models: what failed is a command of the project.
pub(super) fn is_of_another_service(text: &str) -> bool {
    (OTHER_SERVICE.is_match(text) || asks_elsewhere(text)) && !SERVES_MODELS.is_match(text)
}

/// How test runners and compilers write.
static OF_TOOLS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\btest result: |\btest failed, to rerun\b|::tests?::|\b\d+ passed\b|; \d+ failed\b|\bassertion ?(?:error|failed)\b|\bexpected\b.{0,60}(?:, got\b| but (?:got|was|received|found)\b| to (?:equal|be)\b)|\b(?:expected|received|actual): \S|\btest_\w{3}|\b[\w-]+\.(?:test|spec)\.[cm]?[jt]sx?\b|_test\.(?:go|py|rb|exs?)\b|^e (?:[a-z_]+\.)*\w*(?:error|exception)\b|\bpanicked at\b|\berror ts\d{4}\b|\berror\[e\d{4}\]|\bis not assignable to\b",
    )
});

static WORKED_ON: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bnow using [\w-]"));

/// What somebody did or found out, told in the first person or as an analysis. Providers say "I'm sorry" at most.
static REPORTED: LazyLock<Regex> = LazyLock::new(|| {
    let did = "need|added|changed|fixed|left|stopped|did|made|gave|raised|lowered|could not|kept|read|wrote|chose|renamed|refactored|checked|tested|was not able|should see|cached|investigated";
    pattern(&format!(
        r"\bi (?:{did})\b|\bnow (?:names|explains|shows|says|reports|returns) the\b|\b(?:misclassified|matched no)\b|\bthe (?:bug|cause|fix|ticket) (?:is|was)\b|^(?:use an?|document|handle|detect|improve|support|allow|avoid|prevent|track)s? |^root cause\b"
    ))
});

/// Registries, mail, databases and the like refuse calls too; what fails then is the project's own command.
static OTHER_SERVICE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:docker(?:hub)?|npm|pypi|pip|pull rate limit|twilio|ec2|dynamodb|cloudformation|crates\.io|rubygems|maven|smtp|webhooks?|crawler|robots\.txt|psql|sqlstate|redis|postgres\w*|mysql|mongo\w*|elasticsearch|kubernetes|terraform|stripe|slack|discord|telegram|git lfs|secondary rate limit|fork: retry)(?:\b|$)|\binsufficient (?:funds|balance)\b[^.;!]{0,20}\b(?:for (?:the |this |a )?(?:transfer|withdrawal|purchase|order|trade|bet)|in (?:account|wallet) \S*\d)|^remote: |\btoomanyrequests: |\bunable to access '|\bthe requested url returned error\b|\bapi rate limit exceeded for (?:installation|\d)",
    )
});

static SERVES_MODELS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:openai|anthropic|claude|gpt|chatgpt|codex|gemini|vertex|bedrock|azure|copilot|cursor|windsurf|openrouter|groq|mistral|deepseek|kimi|moonshot|qwen|dashscope|glm|minimax|grok|xai|cohere|fireworks|cerebras|ollama|llm|litellm|models?|tokens)\b",
    )
});

/// Whether words that stand before an answer tell of code that has to do with it: nobody gave that answer.
pub(super) fn tells_of_code(before: &str) -> bool {
    is_told(before) && CODE.is_match(before)
}

static CODE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(?:tests?|fixtures?|mocks?|stubs?|body|handlers?|returns?|maps?|parses?|examples?)\b")
});

/// Whether a text speaks of errors as code treats them, or names a test, whose statuses are its own.
pub(super) fn is_about_code(text: &str) -> bool {
    ABOUT_CODE.is_match(text)
}

static ABOUT_CODE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\berrors? (?:handling|handlers?|messages?|states?|boundar(?:y|ies)|pages?|dialogs?)\b|\bexpected \d{3} in test_\w+",
    )
});

/// Whether a text names a place that was asked, none of which serves models: `GET https://repo.example/x`.
fn asks_elsewhere(text: &str) -> bool {
    ASKED_PLACE.is_match(text) && !ADDRESSED.is_match(text)
}

/// Who serves a person says "you".
static ADDRESSED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\byou(?:'ve|'re)?\b"));

static ASKED_PLACE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:get|post|put|delete|head|patch)\b [`'\x22]?(?:https?://|/)|\bpath=/|\[ip: |\b(?:from|to|url:?|uri|access|fetch(?:ing)?|download(?:ing)?|clone|resolve) [`'\x22(<]{0,2}https?://",
    )
});
