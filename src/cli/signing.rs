//! What a person reads at a gate that asks for a signature: which key would be used and what it asks
//! for, and how to sign on another machine, where nothing of ours is installed.

use super::Context;
use super::findings::{Finding, bad, good};
use crate::desk::{ToSign, to_sign, usual_key};
use loop_core::engine::{SIGNATURE_NAMESPACE, State};
use loop_core::workflow::model::Workflow;

/// Returns the lines below such a question; none where no signature is asked for.
pub(super) fn lines(context: &Context, run: &str, workflow: &Workflow, state: &State) -> Vec<String> {
    let Some(ToSign { gate, statement, presence }) = to_sign(run, workflow, state) else { return Vec::new() };
    let key = context.caller.environment.user_home.as_deref().and_then(usual_key);
    let mine = match key {
        Some((key, Ok(kind))) if presence && !kind.is_shown() => {
            format!("your key {} is {}; this gate does not take it", key.display(), kind.words())
        }
        Some((key, Ok(kind))) => format!("your key {} is {}", key.display(), kind.words()),
        Some((key, Err(why))) => format!("your key {} cannot be used: {why}", key.display()),
        None => "you have no SSH key in ~/.ssh; name one with --sign KEY".to_owned(),
    };
    let text = statement.trim_end().replace('\'', "'\\''").replace('\n', "' '");
    vec![
        mine,
        "to sign on another machine:".to_owned(),
        format!(
            "  printf '%s\\n' '{text}' | ssh-keygen -Y sign -n {SIGNATURE_NAMESPACE} -f KEY > approval.sig"
        ),
        format!("  then here: loop approve {gate} --signature approval.sig"),
    ]
}

/// Says which key would sign an approval, and what it asks for.
pub(super) fn finding(context: &Context) -> Finding {
    match context.caller.environment.user_home.as_deref().and_then(usual_key) {
        Some((key, Ok(kind))) => good("key", format!("{} is {}", key.display(), kind.words())),
        Some((_, Err(why))) => bad("key", why, "loop approve GATE --sign KEY names another"),
        None => good("key", "none in ~/.ssh; only signed gates need one".to_owned()),
    }
}
