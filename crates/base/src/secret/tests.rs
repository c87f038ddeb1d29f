//! Secrets in every form, in pieces of every size, and text that holds none.

use super::{MARK, Redactor, Secrets, names};
use crate::text::sanitise;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

fn secrets(values: &[&str]) -> Arc<Secrets> {
    let values: Vec<Vec<u8>> = values.iter().map(|it| it.as_bytes().to_vec()).collect();
    Arc::new(Secrets::of(&values))
}

fn in_pieces(secrets: &Arc<Secrets>, text: &[u8], size: usize) -> String {
    let mut redactor = Redactor::new(Arc::clone(secrets));
    let mut out = Vec::new();
    for piece in text.chunks(size.max(1)) {
        redactor.push(piece, &mut |it| out.extend_from_slice(it));
    }
    redactor.finish(&mut |it| out.extend_from_slice(it));
    String::from_utf8_lossy(&out).into_owned()
}

const SECRET: &str = "hV7/q\"x+Zr9\\kT2m=";

#[test]
fn every_form_of_a_value_goes_and_its_surroundings_stay() {
    let known = secrets(&[SECRET]);
    for form in [
        SECRET,
        "hV7/q\\\"x+Zr9\\\\kT2m=",
        "hV7\\/q\\\"x+Zr9\\\\kT2m=",
        "hV7/q\\\\\\\"x+Zr9\\\\\\\\kT2m=",
        "hV7%2Fq%22x%2BZr9%5CkT2m%3D",
        "hV7%2fq%22x%2bZr9%5ckT2m%3d",
        "%68%56%37%2F%71%22%78%2B%5A%72%39%5C%6B%54%32%6D%3D",
        "%68%56%37%2f%71%22%78%2b%5a%72%39%5c%6b%54%32%6d%3d",
        "hV7/q%22x%2BZr9%5CkT2m%3D",
        "hV7%252Fq%2522x%252BZr9%255CkT2m%253D",
        "hV7/q%22x+Zr9%5CkT2m=",
        "68:56:37:2f:71:22:78:2b:5a:72:39:5c:6b:54:32:6d:3d",
        "68 56 37 2F 71 22 78 2B 5A 72 39 5C 6B 54 32 6D 3D",
        "\\x68\\x56\\x37\\x2f\\x71\\x22\\x78\\x2b\\x5a\\x72\\x39\\x5c\\x6b\\x54\\x32\\x6d\\x3d",
        "hV7/q&quot;x+Zr9\\kT2m=",
        "%68%56%37%2F%71\u{1b}[31m%22%78%2B%5A%72%39%5C%6B%54%32%6D%3D",
        "6856372f7122782b5a72395c6b54326d3d",
        "6856372F7122782B5A72395C6B54326D3D",
        "hV7/q\u{1b}[31m\"x+Zr9\\kT\u{1b}[0m2m=",
        "hV7/q\\u001b[31m\\\"x+Zr9\\\\kT2\\u001b[0mm=",
        "hV7/q\u{1b}]8;;http://x\u{7}\"x+Zr9\\kT2m=",
        "hV7/q\u{200b}\"x+\u{feff}Zr9\\kT2m=",
        "hV7/q\0\"x+Zr9\u{8}\\kT2m=",
    ] {
        for size in [1, 2, 3, 7, 1000] {
            let text = format!("before {form} after\n");
            assert_eq!(
                in_pieces(&known, text.as_bytes(), size),
                format!("before {MARK} after\n"),
                "{form:?}"
            );
        }
    }
}

/// Signs that only some encoders escape.
#[test]
fn every_encoder_is_known() {
    let known = secrets(&["pä<s>&'w(ö)rd 7"]);
    for form in [
        "p\\u00e4<s>&'w(\\u00f6)rd 7",
        "p\\u00e4\\u003cs\\u003e\\u0026'w(\\u00f6)rd 7",
        "p%C3%A4%3Cs%3E%26'w(%C3%B6)rd%207",
        "p%C3%A4%3Cs%3E%26%27w%28%C3%B6%29rd+7",
        "p%c3%a4%3cs%3e&'w(%c3%b6)rd%207",
        "pä&lt;s&gt;&amp;&#39;w(ö)rd 7",
    ] {
        for size in [1, 2, 5, 1000] {
            let left = in_pieces(&known, format!("before {form} after\n").as_bytes(), size);
            assert!(
                left.starts_with("before [redacted]") && left.ends_with(" after\n"),
                "{form:?}: {left:?}"
            );
            assert!(!left.contains("rd"), "{form:?}: {left:?}");
        }
    }
}

#[test]
fn base64_goes_wherever_the_value_stands_in_it() {
    let value = "k9-Wq_7+Zt/2Lm=0Pa?c";
    let known = secrets(&[value]);
    for (text, left) in [
        ("azktV3FfNytadC8yTG09MFBhP2M=", "[redacted]=="),
        ("eGs5LVdxXzcrWnQvMkxtPTBQYT9j", "[redacted]"),
        ("eHhrOS1XcV83K1p0LzJMbT0wUGE/Yw==", "[redacted]"),
        ("eHhrOS1XcV83K1p0LzJMbT0wUGE_Yw==", "[redacted]"),
    ] {
        let out = in_pieces(&known, text.as_bytes(), 5);
        assert!(out.contains(MARK) && out.len() < left.len() + 8, "{text}: {out}");
    }
    // 60 bytes make 80 characters, which `base64` breaks after 76.
    let long = "0123456789abcdefghijABCDEFGHIJ0123456789klmnopqrstKLMNOPQRST";
    let text = "MDEyMzQ1Njc4OWFiY2RlZmdoaWpBQkNERUZHSElKMDEyMzQ1Njc4OWtsbW5vcHFyc3RLTE1OT1BR\nUlNU";
    let out = in_pieces(&secrets(&[long]), text.as_bytes(), 1000);
    assert!(!out.contains("MDEy") && !out.contains("b3BxcnN0"), "{out}");
}

#[test]
fn keys_are_known_by_their_shape() {
    let known = secrets(&[]);
    let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKCAQEA\n-----END RSA PRIVATE KEY-----";
    for (text, left) in [
        ("key sk-ant-api03-abcdefghijkl_MN.", "key [redacted]."),
        ("key=sk-proj-0123456789abcdefghij", "key=[redacted]"),
        ("\"out\\nsk-ant-api03-abcdefghijkl\"", "\"out\\n[redacted]\""),
        ("ghp_0123456789abcdefghij0123456789abcdef!", "[redacted]!"),
        ("id AKIAIOSFODNN7EXAMPLE secret", "id [redacted] secret"),
        ("Authorization: Bearer abcdef.ghijkl-mnopqr=\n", "Authorization: [redacted]\n"),
        (pem, "[redacted]"),
        ("a task-0123456789abcdefghij-done", "a task-0123456789abcdefghij-done"),
        ("the bearer of news, sk-fake, ghp_short", "the bearer of news, sk-fake, ghp_short"),
        ("-----BEGIN PUBLIC KEY-----\nMIIB\n", "-----BEGIN PUBLIC KEY-----\nMIIB\n"),
    ] {
        for size in [1, 4, 1000] {
            assert_eq!(in_pieces(&known, text.as_bytes(), size), left, "{text:?} in pieces of {size}");
        }
    }
    let escaped = pem.replace('\n', "\\n");
    assert_eq!(in_pieces(&known, format!("{{\"k\":\"{escaped}\"}}").as_bytes(), 3), "{\"k\":\"[redacted]\"}");
}

/// A line that no secret begins in is there at once, for those who look on.
#[test]
fn nothing_is_kept_back_without_a_reason() {
    let mut redactor = Redactor::new(secrets(&[SECRET]));
    let mut out = Vec::new();
    for piece in ["working...", "\n", "hV", "7/ no, it is not"] {
        redactor.push(piece.as_bytes(), &mut |it| out.push(String::from_utf8_lossy(it).into_owned()));
    }
    assert_eq!(out.concat(), "working...\nhV7/ no, it is not");
    assert_eq!((out[0].as_str(), out[1].as_str()), ("working...", "\n"));
}

/// Much at once is looked at in parts, and what stands across two of them is found.
#[test]
fn long_pieces_are_as_good_as_short_ones() {
    let known = secrets(&[SECRET]);
    for shift in 0..40 {
        let line = format!("{}\u{1b}[1m{SECRET}\u{1b}[0m and some text\n", "x".repeat(shift));
        let text = line.repeat(1000);
        let whole = in_pieces(&known, text.as_bytes(), text.len());
        assert_eq!(whole.matches(MARK).count(), 1000);
        assert!(!sanitise(&whole).contains("Zr9"), "{shift}");
        assert_eq!(sanitise(&whole), sanitise(&in_pieces(&known, text.as_bytes(), 700)), "{shift}");
    }
}

#[test]
fn data_keeps_its_shape() {
    super::learn([("CANARY_TOKEN".to_owned(), b"canary \"7\" of data".to_vec())]);
    let data = BTreeMap::from([("a".to_owned(), "canary \"7\" of data!".to_owned())]);
    let (_, text) = super::redact_data(data);
    assert_eq!(text, r#"{"a":"[redacted]!"}"#);
}

proptest! {
    /// However a stream is divided, the same is left of it, and no value.
    #[test]
    fn pieces_make_no_difference(
        parts in prop::collection::vec(prop_oneof![
            Just(SECRET.to_owned()), Just("hV7/q".to_owned()), Just("\u{1b}[1m".to_owned()), Just("\u{1b}".to_owned()),
            Just("\n".to_owned()), Just("sk-ant-abcdefgh".to_owned()), Just("\\u001b[0m".to_owned()),
            Just("-----BEGIN PRIVATE KEY-----".to_owned()), Just("-----END PRIVATE KEY-----".to_owned()),
            "[a-zA-Z0-9 =+/\\\\\"-]{0,30}", "\\PC{0,10}",
        ], 0..12),
        size in 1_usize..40,
    ) {
        let text = parts.concat();
        let known = secrets(&[SECRET]);
        let whole = known.redact(&text).into_owned();
        let pieces = in_pieces(&known, text.as_bytes(), size);
        // A colour that is set beside a key may go with it, also where it is written as JSON.
        let plain = |it: &str| sanitise(it).replace("\\u001b[0m", "");
        prop_assert_eq!(plain(&pieces), plain(&whole));
        prop_assert!(![&whole, &pieces, &sanitise(&whole)].into_iter().any(|it| it.contains(SECRET)), "{:?}", whole);
    }

    /// Two bytes at a time see what is seen when something is looked for at every single place.
    #[test]
    fn nothing_is_between_two_looks(
        parts in prop::collection::vec(prop_oneof![
            prop::sample::select(vec!["sk-", "AKIA", "\u{ad}", "\u{9b}", "\u{200b}", "\\u001b", "hV7", "-----BEGIN", "\u{7f}"])
                .prop_map(|it| it.as_bytes().to_vec()),
            Just(SECRET.as_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 0..4),
            "[a-z]{0,5}".prop_map(String::into_bytes),
        ], 0..12),
        from in 0_usize..20,
    ) {
        let known = secrets(&[SECRET]);
        let bytes = parts.concat();
        let at = |start: usize| {
            let here = known.sorted.iter().filter(|it| bytes[start..].starts_with(it));
            here.map(Vec::len).max().map(|it| (start, start + it))
        };
        let slowly = |from: usize| (from..bytes.len()).find_map(at);
        prop_assert_eq!(known.find(&bytes, from).map(|it| (it.start, it.end)), slowly(from));
        prop_assert_eq!(known.is_clean(&bytes), !super::view::has_controls(&bytes) && slowly(0).is_none());
        let is_open = |from: &usize| {
            let end = &bytes[*from..];
            !end.contains(&b'\n') && known.sorted.iter().any(|it| end.len() < it.len() && it.starts_with(end))
        };
        if slowly(0).is_none() {
            prop_assert_eq!(known.open_end(&bytes), (0..bytes.len()).find(is_open).unwrap_or(bytes.len()));
        }
    }

    #[test]
    fn ordinary_text_stays(text in "[a-z ,.:;(){}\n0-9]{0,200}") {
        prop_assert_eq!(secrets(&[SECRET]).redact(&text).into_owned(), text);
    }
}

#[test]
fn payment_keys_go_by_their_shape() {
    // Put together here, so that no scanner takes the source for a leak.
    let key = format!("sk_{}_{}", "live", "4eC39HqLyjWDarjtT1zdp7dc");
    let text = format!("STRIPE={key} and a task_live_thing stays");
    assert_eq!(secrets(&[]).redact(&text), format!("STRIPE={MARK} and a task_live_thing stays"));
}

#[test]
fn a_command_tells_what_it_sets() {
    super::learn_command(
        "API_TOKEN='zq81-Hm27x' npm test --password hunter2-hunter2 --reporter verbose-reporter",
    );
    super::learn_command("psql postgres://me:p4ss-w0rd9@host/db -c 'select 1' --token $OTHER_TOKEN_NAME");
    let text = "zq81-Hm27x hunter2-hunter2 p4ss-w0rd9 verbose-reporter $OTHER_TOKEN_NAME";
    let clean = format!("{MARK} {MARK} {MARK} verbose-reporter $OTHER_TOKEN_NAME");
    assert_eq!(super::redact(text), clean);
}

#[test]
fn a_value_in_an_address_is_known() {
    let found = names::secrets("REDIS_URL", b"redis://:p4ssw0rd-x@localhost:6379/0");
    assert_eq!(found, [b"p4ssw0rd-x".to_vec()]);
}
