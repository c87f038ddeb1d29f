//! The server: one thread for each connection, on the loopback interface and nowhere else.

use crate::anthropic::Anthropic;
use crate::chat::Chat;
use crate::gemini::Gemini;
use crate::http::{self, HttpRequest};
use crate::provider_api::{ProviderApi, ProviderRefusal, ToolUse};
use crate::responses::Responses;
use crate::script::{Script, ScriptedError, ScriptedTurn, When, WhichTurn};
use crate::tools;
use regex_lite::Regex;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a server does beside answering.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A file that gets a line of JSON for each request.
    pub log: Option<PathBuf>,
    /// The agent's working directory, for relative paths where no prompt names it.
    pub cwd: Option<String>,
}

/// A scripted model. It ends with the process; whoever starts one ends when its own work does.
#[derive(Clone)]
pub struct ModelServer {
    url: String,
    shared: Arc<ServerState>,
}

struct ServerState {
    script: Mutex<Script>,
    log: Mutex<Option<File>>,
    is_closed: AtomicBool,
    cwd: Option<String>,
}

impl ModelServer {
    /// Starts a server on a free port of the loopback interface.
    pub fn start(script: Script, options: &Options) -> io::Result<ModelServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}", listener.local_addr()?);
        let log = options.log.as_ref().map(|it| File::options().create(true).append(true).open(it));
        let shared = Arc::new(ServerState {
            script: Mutex::new(script),
            log: Mutex::new(log.transpose()?),
            is_closed: AtomicBool::new(false),
            cwd: options.cwd.clone(),
        });
        let server = ModelServer { url, shared };
        let own = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if own.shared.is_closed.load(Ordering::Acquire) {
                    break;
                }
                let shared = Arc::clone(&own.shared);
                // A client that breaks off ends its own connection only.
                std::thread::spawn(move || drop(converse(stream, &shared)));
            }
        });
        Ok(server)
    }

    /// Returns where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Listens no more: who connects from now on is refused.
    pub fn close(&self) {
        self.shared.is_closed.store(true, Ordering::Release);
        let place = self.url.trim_start_matches("http://");
        // The thread that accepts sees the word when somebody comes, and drops the listener.
        let _is_woken = TcpStream::connect(place);
    }

    /// Answers by another script from now on.
    pub fn play(&self, script: Script) {
        *self.shared.script.lock().unwrap_or_else(PoisonError::into_inner) = script;
    }
}

impl ServerState {
    fn note(&self, line: &Value) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = log.as_mut() {
            // Whoever reads the log sees what is missing.
            let _noted = log.write_all(format!("{line}\n").as_bytes());
        }
    }
}

/// What becomes of a connection after an answer.
#[derive(PartialEq, Eq)]
enum Then {
    Next,
    Close,
}

fn converse(stream: TcpStream, shared: &ServerState) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut out = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = http::read(&mut reader)? {
        if answer(&request, &mut reader, &mut out, shared)? == Then::Close {
            break;
        }
    }
    out.shutdown(Shutdown::Both)
}

fn answer(
    request: &HttpRequest,
    reader: &mut BufReader<TcpStream>,
    out: &mut TcpStream,
    shared: &ServerState,
) -> io::Result<Then> {
    let path = request.path.as_str();
    let respond = |out: &mut TcpStream, status: u16, document: Value| {
        http::respond(out, status, &document, &Map::new(), request.method != "HEAD").map(|()| Then::Next)
    };
    let no_such = |out: &mut TcpStream| {
        let message = format!("the scripted model has no {} {path}", request.method);
        respond(out, 404, json!({"error": {"type": "not_found_error", "message": message}}))
    };
    if request.method != "POST" {
        shared.note(&json!({"method": request.method, "path": path}));
        return match path.ends_with("/models") {
            true => respond(out, 200, models()),
            false if request.method == "HEAD" => respond(out, 200, json!({})),
            false => no_such(out),
        };
    }
    if request.is_encoded {
        let message = "the scripted model reads no compressed requests";
        return respond(out, 415, json!({"error": {"message": message}}));
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let tokens = request.body.len() / 4;
    if path.ends_with("/count_tokens") {
        return respond(out, 200, json!({"input_tokens": tokens}));
    }
    if path.ends_with(":countTokens") {
        return respond(out, 200, json!({"totalTokens": tokens}));
    }
    let Some(asked) = ModelRequest::of(path, &body) else {
        shared.note(&json!({"method": "POST", "path": path, "unhandled": true}));
        return no_such(out);
    };
    asked.answer(request, &body, reader, out, shared)
}

/// A request to a model.
struct ModelRequest<'a> {
    api: &'static dyn ProviderApi,
    model: &'a str,
    is_stream: bool,
}

impl<'a> ModelRequest<'a> {
    fn of(path: &'a str, body: &'a Value) -> Option<ModelRequest<'a>> {
        let model = body["model"].as_str().unwrap_or("fake-model");
        let is_stream = body["stream"].as_bool().unwrap_or(false);
        if let Some((model, action)) = path.rsplit_once("/models/").and_then(|it| it.1.split_once(':')) {
            let is_stream = action == "streamGenerateContent";
            return (is_stream || action == "generateContent").then_some(ModelRequest {
                api: &Gemini,
                model,
                is_stream,
            });
        }
        let api: &'static dyn ProviderApi = match path {
            _ if path.ends_with("/messages") => &Anthropic,
            _ if path.ends_with("/responses") => &Responses,
            _ if path.ends_with("/chat/completions") => &Chat,
            _ => return None,
        };
        Some(ModelRequest { api, model, is_stream })
    }

    fn answer(
        &self,
        request: &HttpRequest,
        body: &Value,
        reader: &mut BufReader<TcpStream>,
        out: &mut TcpStream,
        shared: &ServerState,
    ) -> io::Result<Then> {
        let offered = self.api.offered(body);
        let (taken, mut turn) =
            shared.script.lock().unwrap_or_else(PoisonError::into_inner).take(!offered.is_empty());
        let number = match taken {
            WhichTurn::Numbered(index) => json!(index),
            WhichTurn::Beyond => json!("beyond"),
            WhichTurn::Beside => json!("beside"),
        };
        let tools: Vec<&String> = offered.keys().collect();
        shared.note(&json!({"method": "POST", "path": request.path, "model": self.model, "turn": number, "tools": tools}));
        let text = String::from_utf8_lossy(&request.body);
        if let Some(missing) = turn.expect.as_ref().filter(|it| !is_said(it, &text)) {
            let message = format!("the request does not say {missing}");
            shared.note(&json!({"problem": message}));
            let error = ScriptedError { status: 400, message, ..ScriptedError::default() };
            return self.refuse(&error, &turn, out);
        }
        if turn.silent == Some(When::Before) {
            return outwait(reader);
        }
        if turn.drop == Some(When::Before) || (turn.drop.is_some() && !self.is_stream) {
            return Ok(Then::Close);
        }
        let error = match turn.fails.map(|it| self.api.refusal(it, turn.seconds)) {
            Some(ProviderRefusal::Error(error)) => Some(error),
            Some(ProviderRefusal::Stop(word)) => {
                turn.stop = Some(word.to_owned());
                None
            }
            None => turn.error.clone(),
        };
        if let Some(error) = error.as_ref().filter(|it| !(it.in_stream && self.is_stream)) {
            return self.refuse(error, &turn, out);
        }
        let folder = tools::stated_folder(&text).or_else(|| shared.cwd.clone());
        let uses: Result<Vec<ToolUse>, String> =
            turn.tools.iter().map(|it| tools::resolve(it, &offered, folder.as_deref())).collect();
        let uses = match uses {
            Ok(uses) => uses,
            Err(why) => {
                shared.note(&json!({"problem": why}));
                let error = ScriptedError { status: 400, message: why, ..ScriptedError::default() };
                return self.refuse(&error, &turn, out);
            }
        };
        if !self.is_stream {
            let message = self.api.message(&turn, &uses, self.model);
            return http::respond(out, 200, &message, &turn.headers, true).map(|()| Then::Next);
        }
        self.stream(&turn, &uses, error.as_ref(), reader, out)
    }

    fn refuse(&self, error: &ScriptedError, turn: &ScriptedTurn, out: &mut TcpStream) -> io::Result<Then> {
        let mut headers = turn.headers.clone();
        headers.extend(error.headers.clone());
        let status = if error.status == 0 { 500 } else { error.status };
        http::respond(out, status, &self.api.error(error), &headers, true).map(|()| Then::Next)
    }

    fn stream(
        &self,
        turn: &ScriptedTurn,
        uses: &[ToolUse],
        error: Option<&ScriptedError>,
        reader: &mut BufReader<TcpStream>,
        out: &mut TcpStream,
    ) -> io::Result<Then> {
        http::begin_stream(out, &turn.headers)?;
        let events = self.api.stream(turn, uses, self.model);
        let is_cut = turn.drop.is_some() || turn.silent.is_some() || error.is_some();
        let most = if is_cut { events.len() / 2 } else { events.len() };
        for (name, data) in &events[..most] {
            http::send_event(out, *name, data)?;
        }
        if let Some(error) = error {
            let (name, data) = self.api.stream_error(error);
            http::send_event(out, name, &data)?;
        }
        if turn.silent.is_some() {
            return outwait(reader);
        }
        Ok(Then::Close)
    }
}

fn is_said(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|it| it.is_match(text))
}

/// Says nothing more until the client has gone.
fn outwait(reader: &mut BufReader<TcpStream>) -> io::Result<Then> {
    let mut bytes = [0; 4096];
    while reader.read(&mut bytes)? != 0 {}
    Ok(Then::Close)
}

fn models() -> Value {
    let names = ["fake-model", "claude-sonnet-4-5", "gpt-5-codex", "gemini-2.5-pro"];
    let model = |name: &str| {
        json!({
            "id": name, "object": "model", "type": "model", "display_name": name,
            "name": format!("models/{name}"), "created_at": "2026-01-01T00:00:00Z",
        })
    };
    let all: Vec<Value> = names.into_iter().map(model).collect();
    json!({"object": "list", "data": all, "models": all, "has_more": false})
}
