//! A model that follows a script, for trying agent CLIs without a key, a model or a network. It listens on
//! the loopback interface only and speaks the interfaces of the large providers, chosen by the path of a
//! request: Anthropic's Messages, OpenAI's Responses and Chat Completions, Google's Gemini.
//!
//! The answer to the n-th request that offers tools is turn n of the script. Requests without tools (titles,
//! summaries, probes) are answered beside it and use up no turn.

mod anthropic;
mod chat;
mod failure;
mod gemini;
mod http;
mod provider_api;
mod responses;
mod script;
mod serve;
mod tools;

pub use script::Script;
pub use serve::{ModelServer, Options};
