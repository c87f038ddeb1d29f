//! As much HTTP/1.1 as the CLIs speak to a provider.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Prompts with attachments have some megabytes.
const BODY_MOST: usize = 64 << 20;

/// A line of a head; keys and cookies are far shorter.
const LINE_MOST: u64 = 64 << 10;

const HEADERS_MOST: usize = 200;

pub(crate) struct HttpRequest {
    pub(crate) method: String,
    /// Without what follows a question mark.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    pub(crate) is_encoded: bool,
}

/// Reads the next request of a connection; nothing when the client has gone.
pub(crate) fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<HttpRequest>> {
    let first = line(stream)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next().filter(|it| !it.is_empty()), words.next()) else {
        return Ok(None);
    };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let line = line(stream)?;
        let Some((name, value)) = line.split_once(':') else { break };
        if headers.len() == HEADERS_MOST {
            return Err(io::Error::other("too many headers"));
        }
        headers.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
    }
    let is_chunked = headers.get("transfer-encoding").is_some_and(|it| it.contains("chunked"));
    let length = headers.get("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    let body = if is_chunked { chunks(stream)? } else { exactly(stream, length)? };
    let is_encoded = headers.get("content-encoding").is_some_and(|it| it != "identity");
    Ok(Some(HttpRequest { method: method.to_owned(), path, body, is_encoded }))
}

fn line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = Vec::new();
    stream.by_ref().take(LINE_MOST).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

fn exactly(stream: &mut BufReader<TcpStream>, length: usize) -> io::Result<Vec<u8>> {
    if BODY_MOST < length {
        return Err(io::Error::other("the body is too long"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(body)
}

fn chunks(stream: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let head = line(stream)?;
        let size = head.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
        if BODY_MOST < body.len() + size {
            return Err(io::Error::other("the body is too long"));
        }
        body.extend(exactly(stream, size)?);
        line(stream)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

/// Answers with a whole document.
pub(crate) fn respond(
    stream: &mut impl Write,
    status: u16,
    document: &Value,
    headers: &Map<String, Value>,
    with_body: bool,
) -> io::Result<()> {
    let body = document.to_string();
    let mut head = head(status, "application/json", headers);
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    stream.write_all(head.as_bytes())?;
    if with_body {
        stream.write_all(body.as_bytes())?;
    }
    stream.flush()
}

/// Begins an answer in pieces, which ends with the connection.
pub(crate) fn begin_stream(stream: &mut impl Write, headers: &Map<String, Value>) -> io::Result<()> {
    let mut head = head(200, "text/event-stream", headers);
    head.push_str("cache-control: no-cache\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())
}

/// Sends one piece of an answer.
pub(crate) fn send_event(stream: &mut impl Write, name: Option<&str>, data: &Value) -> io::Result<()> {
    let head = name.map(|it| format!("event: {it}\n")).unwrap_or_default();
    let data = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
    stream.write_all(format!("{head}data: {data}\n\n").as_bytes())?;
    stream.flush()
}

fn head(status: u16, kind: &str, headers: &Map<String, Value>) -> String {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Error",
    };
    let mut head = format!("HTTP/1.1 {status} {reason}\r\ncontent-type: {kind}\r\n");
    for (name, value) in headers {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head
}
