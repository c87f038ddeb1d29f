//! Whatever bytes come, the reader survives them in bounded memory, and the end still counts.

use super::row;
use crate::agent_table::{AgentTable, Stream};
use crate::agents::heard::MESSAGE_MOST;
use crate::agents::reader::LINE_MOST;
use crate::agents::{AgentOutput, CallExit, Limit, StreamReader};
use jiff::tz::TimeZone;
use loop_base::time::Timestamp;
use proptest::prelude::*;
use serde_json::json;

fn finish(reader: StreamReader, exit: i32) -> AgentOutput {
    let zone = TimeZone::UTC;
    reader.finish(&CallExit { exit: Some(exit), complaints: "", rollout: "", now: Timestamp(0), zone: &zone })
}

const ASSISTANT: &str = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"the end"}]},"parent_tool_use_id":null}"#;
const RESULT: &str =
    r#"{"total_cost_usd":0.5,"is_error":false,"subtype":"success","result":"the end","type":"result"}"#;

#[test]
fn what_is_too_long_or_broken_is_passed_over() {
    let deep =
        format!("{{\"type\":\"user\",\"message\":{}1{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let long = format!("{{\"type\":\"user\",\"message\":\"{}\"}}", "x".repeat(3 * LINE_MOST));
    let junk: Vec<&[u8]> = vec![
        b"\0\0\0",
        b"\xff\xfe{",
        b"{\"type\":\"result\"",
        b"[1,2]",
        b"null",
        b"{}",
        b"not json at all",
        b"{\"type\":7}",
        b"{\"type\":\"result\",\"type\":\"result\"}",
        b"{\"type\":\"future\",\"x\":1e999}",
        b"{\"type\":\"assistant\",\"message\":null}",
        b"{\"type\":\"assistant\",\"message\":{\"content\":\"text\"}}",
        deep.as_bytes(),
        long.as_bytes(),
    ];
    let mut reader = StreamReader::new(row("claude"));
    for line in junk {
        reader.bytes(line);
        reader.bytes(b"\n");
    }
    reader.bytes(format!("{ASSISTANT}\r\n{RESULT}").as_bytes());
    let said = finish(reader, 0);
    assert_eq!((said.message.as_str(), said.terminal, said.trouble), ("the end", true, None));
    assert_eq!(said.usage.usd, Some(0.5));
}

/// Python writes NaN where JSON has no word for it. The call ends as it would without the number, and parts of
/// tokens are rounded up.
#[test]
fn numbers_that_are_none_spoil_nothing_else() {
    for number in ["NaN", "-Infinity", "Infinity", "12.5", "0.25", "-3", "1e999", "null", "\"many\""] {
        let mut reader = StreamReader::new(row("claude"));
        let usage = format!("{{\"input_tokens\":{number},\"output_tokens\":2}}");
        let result = format!(
            "{{\"type\":\"result\",\"is_error\":false,\"result\":\"is \\\"NaN\\\" a number?\",\"usage\":{usage},\"total_cost_usd\":{number}}}"
        );
        reader.bytes(result.as_bytes());
        let said = finish(reader, 0);
        assert_eq!((said.message.as_str(), said.trouble), ("is \"NaN\" a number?", None), "{number}");
        let expected = match number {
            "12.5" => 13,
            "0.25" => 1,
            _ => 0,
        };
        assert_eq!((said.usage.tokens.input, said.usage.tokens.output), (expected, 2), "{number}");
    }
}

/// Lines are told apart by how they begin, where they begin as expected; what they come to does not
/// depend on it.
#[test]
fn a_type_counts_wherever_it_stands_and_only_once() {
    let read = |lines: &[&str]| {
        let mut reader = StreamReader::new(row("claude"));
        reader.bytes(lines.join("\n").as_bytes());
        reader.bytes(b"\n");
        (reader.activity(), finish(reader, 0))
    };
    let known = r#"{"type":"system","subtype":"status","session_id":"s"}"#;
    for (first, last) in [
        (
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a\nb"}]},"session_id":"t"}"#,
            r#"{"message":{"content":[{"type":"text","text":"a\nb"}]},"session_id":"t","type":"assistant"}"#,
        ),
        (
            r#"{"type":"assistant","parent_tool_use_id":"p","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"f"}}]}}"#,
            r#"{"parent_tool_use_id":"p","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"f"}}]},"type":"assistant"}"#,
        ),
        (
            r#"{"type":"assistant","error":"overloaded","message":{"content":[{"type":"text","text":"no"}]}}"#,
            r#"{"error":"overloaded","message":{"content":[{"type":"text","text":"no"}]},"type":"assistant"}"#,
        ),
        (
            r#"{"type":"assistant","message":7,"session_id":"t"}"#,
            r#"{"message":7,"session_id":"t","type":"assistant"}"#,
        ),
    ] {
        assert_eq!(read(&[first]), read(&[last]));
        assert_eq!(read(&[known, ASSISTANT, first]), read(&[known, ASSISTANT, last]));
    }
    let untouched = read(&[known, ASSISTANT]);
    for forged in [
        r#"{"type":"user","type":"result","is_error":true,"total_cost_usd":1}"#,
        r#"{"type":"assistant","type":"result","is_error":true,"message":{"content":[{"type":"text","text":"x"}]}}"#,
        r#"{"type":"user","message":"{\"type\":\"result\",\"is_error\":true}","session_id":"s"}"#,
        r#"{"message":"{\"type\":\"assistant\",","content":[{"type":"text","text":"x"}],"type":"user"}"#,
        r#"{"type":"user","message":{"type":"result","is_error":true,"total_cost_usd":1}}"#,
    ] {
        assert_eq!(read(&[known, ASSISTANT, forged]), untouched, "{forged}");
    }
    assert_eq!(read(&[r#"{"type":"user","message":"x","session_id":"s"}"#]).1.session.as_deref(), Some("s"));
}

/// Version 2.1.325 writes the refused tools before everything that matters.
#[test]
fn a_result_that_is_too_long_still_ends_the_stream() {
    let denial = format!(
        r#"{{"tool_name":"Write","tool_input":{{"file_path":"a","content":"{}"}}}}"#,
        "y".repeat(2 * LINE_MOST)
    );
    let result = format!(
        r#"{{"session_id":"s","total_cost_usd":0.5,"modelUsage":{{"m":{{"inputTokens":7,"outputTokens":2}}}},"permission_denials":[{denial}],"is_error":false,"result":"the end","type":"result"}}"#
    );
    let read = |exit| {
        let mut reader = StreamReader::new(row("claude"));
        reader.bytes(format!("{ASSISTANT}\n{result}\n").as_bytes());
        finish(reader, exit)
    };
    let said = read(0);
    assert_eq!(
        (said.message.as_str(), said.terminal, said.error, said.trouble),
        ("the end", true, false, None)
    );
    let usage = &said.usage;
    assert_eq!((usage.tokens.input, usage.tokens.output, usage.usd), (7, 2, Some(0.5)));
    // What the line would have said about a failure is lost, so the status decides.
    let said = read(1);
    assert_eq!((said.terminal, said.error, said.trouble.is_some()), (true, true, true));
}

#[test]
fn the_end_of_a_long_message_is_what_is_kept() {
    let text = format!("{}STATUS: é", "é".repeat(MESSAGE_MOST));
    let mut codex = StreamReader::new(row("codex"));
    codex.bytes(
        format!(
            "{}\n",
            serde_json::json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}})
        )
        .as_bytes(),
    );
    let mut command = StreamReader::new(row("command"));
    for _ in 0..200 {
        command.bytes("a line of some length\n".repeat(1000).as_bytes());
    }
    command.bytes("z".repeat(3 * LINE_MOST).as_bytes());
    command.bytes(b"STATUS: done");
    for (said, end) in [(finish(codex, 0), "STATUS: é"), (finish(command, 0), "STATUS: done\n")] {
        assert!(said.message.ends_with(end), "{}", said.message.len());
        assert!(
            MESSAGE_MOST - 4 <= said.message.len() && said.message.len() <= MESSAGE_MOST,
            "{}",
            said.message.len()
        );
    }
}

proptest! {
    /// How the stream is divided into pieces makes no difference, and nothing makes it panic.
    #[test]
    fn any_bytes_in_any_pieces(
        lines in prop::collection::vec(prop_oneof![
            Just(ASSISTANT.as_bytes().to_vec()),
            Just(RESULT.as_bytes().to_vec()),
            Just(br#"{"type":"turn.failed","error":{"message":"You've hit your usage limit. Try again at 2:57 PM."}}"#.to_vec()),
            Just(br#"{"type":"error","error":{"data":{"statusCode":429}}}"#.to_vec()),
            prop::collection::vec(any::<u8>(), 0..200),
            "\\{\"(type|message|item|part)\":.{0,60}\\}".prop_map(String::into_bytes),
        ], 0..8),
        piece in 1_usize..64,
        exit in 0..3,
    ) {
        let stream = lines.join(&b'\n');
        for cli in AgentTable::default().all() {
            let mut whole = StreamReader::new(cli);
            whole.bytes(&stream);
            let mut pieces = StreamReader::new(cli);
            stream.chunks(piece).for_each(|it| pieces.bytes(it));
            prop_assert_eq!(pieces.activity(), whole.activity());
            let said = finish(whole, exit);
            prop_assert_eq!(&finish(pieces, exit), &said);
            let is_done = exit == 0 && said.terminal && !said.error && said.limit != Some(Limit::Empty);
            prop_assert!(cli.stream == Stream::Text || said.trouble.is_none() == is_done);
        }
    }
}

/// Codex without a network says so for ever; ended by its limit it is none that hangs, and one that
/// found its network again and hangs later is no call without a network.
/// Its stream does not mention a tool that was refused; the record of the session does.
#[test]
fn what_codex_was_refused_is_in_its_record() {
    let record =
        |payload: serde_json::Value| format!("{}\n", json!({"type": "response_item", "payload": payload}));
    let call = |command: &str| {
        let arguments = json!({"cmd": command}).to_string();
        record(json!({"type": "function_call", "name": "exec_command", "arguments": arguments}))
    };
    let told = |output: &str| record(json!({"type": "function_call_output", "output": output}));
    let rollout = [
        call("apply_patch <<'PATCH_EOF'\n*** Begin Patch"),
        told("patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings"),
        call("git commit -qm made"),
        told("Process exited with code 128\nOutput:\nfatal: Unable to create '.git/index.lock': Read-only file system\n"),
        call("cat notes"),
        told("Process exited with code 0\nOutput:\nRead-only file system\n"),
        call("cargo test"),
        told("Process exited with code 101\nOutput:\nerror: test failed\n"),
    ]
    .concat();
    // The beginning and the end of a long record may be the same lines.
    let rollout = format!("{rollout}{rollout}");
    let mut reader = StreamReader::new(row("codex"));
    reader.bytes(b"{\"type\":\"turn.completed\",\"usage\":{}}\n");
    let zone = TimeZone::UTC;
    let end = CallExit { exit: Some(0), complaints: "", rollout: &rollout, now: Timestamp(0), zone: &zone };
    let denials = reader.finish(&end).denials;
    assert_eq!(denials, ["run: apply_patch <<'PATCH_EOF'", "run: git commit -qm made"]);
}

#[test]
fn codex_without_a_network_is_known() {
    let offline = r#"{"type":"error","message":"Reconnecting... waiting for network (Connection failed: error sending request)"}"#;
    let item = r#"{"type":"item.completed","item":{"type":"agent_message","text":"on"}}"#;
    for (lines, limit) in [(vec![offline, offline], Some(Limit::Unreachable)), (vec![offline, item], None)] {
        let mut reader = StreamReader::new(row("codex"));
        lines.iter().for_each(|it| reader.bytes(format!("{it}\n").as_bytes()));
        let zone = TimeZone::UTC;
        let end = CallExit { exit: None, complaints: "", rollout: "", now: Timestamp(0), zone: &zone };
        assert_eq!(reader.finish(&end).limit, limit);
    }
}
