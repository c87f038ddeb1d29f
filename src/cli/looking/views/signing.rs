//! What a person reads at a gate that asks for a signature: which key would be used and what it asks
//! for, and how to sign on another machine, where nothing of ours is installed.

use crate::cli::Context;
use crate::cli::hint;
use crate::desk::{ToSign, to_sign, usual_key};
use loop_core::engine::{SIGNATURE_NAMESPACE, State};
use loop_core::workflow::model::Workflow;

/// Returns the lines below such a question; none where no signature is asked for.
pub(crate) fn lines(context: &Context, run: &str, workflow: &Workflow, state: &State) -> Vec<String> {
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
        format!("to sign on another machine{}:", if presence { ", with a security key" } else { "" }),
        format!(
            "  printf '%s\\n' '{text}' | ssh-keygen -Y sign -n {SIGNATURE_NAMESPACE} -f KEY > approval.sig"
        ),
        format!("  then here: {}", hint::pasteable(&format!("loop approve {gate} --signature approval.sig"))),
    ]
}
