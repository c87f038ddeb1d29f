//! Any program: the prompt on its standard input, its text on standard output, the end of which is
//! its final message. A status other than 0 is a failed call.

use crate::agents::Invocation;
use crate::agents::heard::Heard;
use crate::workflow::model::Agent;

pub(in crate::agents) fn invocation(agent: &Agent) -> Result<Invocation, String> {
    if agent.args.is_empty() {
        return Err(
            "the agent \"command\" needs a program; give it with --agent-cmd \"PROGRAM ARGS\"".to_owned()
        );
    }
    Ok(Invocation { argv: agent.args.clone(), env: Vec::new() })
}

pub(in crate::agents) fn line(heard: &mut Heard, text: &str) {
    heard.message.add_line(text);
    if !text.trim().is_empty() {
        heard.doing(text);
        heard.says(text, false);
    }
}
