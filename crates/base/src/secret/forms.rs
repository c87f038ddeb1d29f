//! The forms in which a value may be printed. Nothing here contains a newline: a value of several
//! lines is known by each of them, so that text can be looked through line by line.

/// A line of a value is telling from here on; shorter ones are frames and endings.
const LEAST_LINE: usize = 16;

/// Programs break base64 into lines of 64 or 76 characters, so of longer texts every piece is known.
const UNBROKEN: usize = 48;
const PIECE: usize = 20;
const STEP: usize = 10;

/// Returns every form of this value.
pub(super) fn of(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    if value.contains(&b'\n') {
        let lines = value.split(|it| *it == b'\n').map(<[u8]>::trim_ascii);
        // Between such lines everything goes, by another rule.
        for line in lines.filter(|it| LEAST_LINE <= it.len() && !it.starts_with(b"-----")) {
            forms.extend(plain(line));
        }
    } else {
        forms.extend(plain(value));
    }
    for (alphabet, bits, group) in ALPHABETS {
        for offset in 0..group {
            let text = encoded(value, offset, alphabet, bits);
            if UNBROKEN < text.len() {
                forms.extend(text.windows(PIECE).step_by(STEP).map(<[u8]>::to_vec));
            }
            forms.push(text);
        }
    }
    forms.retain(|it| !it.is_empty());
    forms.sort();
    forms.dedup();
    forms
}

/// One line as it is, in JSON, in JSON inside of JSON, percent-encoded, in hexadecimal and as markup.
fn plain(line: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![line.to_vec()];
    forms.extend(percent_forms(line));
    forms.extend(byte_forms(line));
    if let Ok(text) = std::str::from_utf8(line) {
        let once = json(text);
        forms.push(json(&once).into_bytes());
        forms.push(once.replace('/', "\\/").into_bytes());
        forms.push(escaped(&once, |it| !it.is_ascii()));
        // Go and Rails keep JSON from being taken for markup.
        forms.push(escaped(&once, |it| !it.is_ascii() || matches!(it, '<' | '>' | '&')));
        forms.push(escaped(text, |_| true));
        forms.push(once.into_bytes());
        forms.extend(["&quot;", "&#34;"].map(|quote| markup(text, quote)));
    }
    forms
}

fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).expect("text is plain data");
    quoted[1..quoted.len() - 1].to_owned()
}

/// These characters as `\u00e9`.
fn escaped(text: &str, is_escaped: fn(char) -> bool) -> Vec<u8> {
    let mut out = String::new();
    for letter in text.chars() {
        match is_escaped(letter) {
            true => out.extend(letter.encode_utf16(&mut [0; 2]).iter().map(|it| format!("\\u{it:04x}"))),
            false => out.push(letter),
        }
    }
    out.into_bytes()
}

fn markup(text: &str, quote: &str) -> Vec<u8> {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', quote).replace('\'', "&#39;").into_bytes()
}

/// Every byte by its number: in hexadecimal as one word, with colons or blanks between, and as `\x41`.
fn byte_forms(line: &[u8]) -> Vec<Vec<u8>> {
    let numbered = |before: &str, between: &str, upper: bool| {
        let number = |it: &u8| if upper { format!("{before}{it:02X}") } else { format!("{before}{it:02x}") };
        line.iter().map(number).collect::<Vec<_>>().join(between).into_bytes()
    };
    let cases = [false, true].into_iter();
    cases
        .flat_map(|upper| {
            [("", ""), ("", ":"), ("", " "), ("\\x", ""), ("%", "")].map(|it| numbered(it.0, it.1, upper))
        })
        .collect()
}

/// What is left as it is in an address, by who encodes it: the standard, Python, a browser's form, and
/// JavaScript's two functions.
const UNENCODED: [&[u8]; 5] = [b"-._~", b"-._~/", b"-._*", b"-._~!*'()", b"-._~!*'();/?:@&=+$,#"];

fn percent_forms(line: &[u8]) -> Vec<Vec<u8>> {
    let encode = |kept: &[u8], upper: bool| -> Vec<u8> {
        let one = |byte: &u8| match byte {
            _ if byte.is_ascii_alphanumeric() || kept.contains(byte) => vec![*byte],
            _ if upper => format!("%{byte:02X}").into_bytes(),
            _ => format!("%{byte:02x}").into_bytes(),
        };
        line.iter().flat_map(one).collect()
    };
    let mut forms: Vec<Vec<u8>> =
        UNENCODED.iter().flat_map(|kept| [true, false].map(|upper| encode(kept, upper))).collect();
    // An address inside of an address is encoded twice.
    forms.push(String::from_utf8_lossy(&encode(UNENCODED[0], true)).replace('%', "%25").into_bytes());
    if line.contains(&b' ') {
        // A form writes a blank as a plus sign.
        let with_plus = forms.iter().map(|it| String::from_utf8_lossy(it).replace("%20", "+").into_bytes());
        forms.extend(with_plus.collect::<Vec<_>>());
    }
    forms
}

const STANDARD: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE32: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const BASE32_LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Each alphabet with the bits of a character, and the bytes after which its characters start over.
const ALPHABETS: [(&[u8], usize, usize); 4] =
    [(STANDARD, 6, 3), (URL_SAFE, 6, 3), (BASE32, 5, 5), (BASE32_LOWER, 5, 5)];

/// Returns the characters that this value alone decides, where `offset` bytes stand before it in its
/// group: those hold whatever is encoded together with it.
fn encoded(value: &[u8], offset: usize, alphabet: &[u8], bits: usize) -> Vec<u8> {
    let all = value.len() * 8;
    // The first character that lies wholly inside of the value.
    let first = (bits - offset * 8 % bits) % bits;
    let number = |from: usize| {
        (from..from + bits)
            .fold(0_usize, |sum, bit| sum << 1 | usize::from(value[bit / 8] >> (7 - bit % 8) & 1))
    };
    (first..).step_by(bits).take_while(|from| from + bits <= all).map(|from| alphabet[number(from)]).collect()
}

#[cfg(test)]
mod tests {
    use super::{BASE32, STANDARD, encoded, of};

    #[test]
    fn base64_is_that_of_everybody_else_wherever_the_value_stands() {
        // printf 'hunter2-hunter2' | base64, and with one and two bytes before it
        assert_eq!(encoded(b"hunter2-hunter2", 0, STANDARD, 6), b"aHVudGVyMi1odW50ZXIy");
        assert!(
            b"eGh1bnRlcjItaHVudGVyMg=="
                .windows(18)
                .any(|it| it == &encoded(b"hunter2-hunter2", 1, STANDARD, 6)[..18])
        );
        assert!(
            b"eHhodW50ZXIyLWh1bnRlcjI="
                .windows(18)
                .any(|it| it == &encoded(b"hunter2-hunter2", 2, STANDARD, 6)[..18])
        );
    }

    #[test]
    fn base32_is_that_of_everybody_else_wherever_the_value_stands() {
        // printf 'hunter2-hunter2' | base32, and with one to four bytes before it
        for (offset, whole) in [
            (0, "NB2W45DFOIZC22DVNZ2GK4RS"),
            (1, "PBUHK3TUMVZDELLIOVXHIZLSGI======"),
            (2, "PB4GQ5LOORSXEMRNNB2W45DFOIZA===="),
            (3, "PB4HQ2DVNZ2GK4RSFVUHK3TUMVZDE==="),
            (4, "PB4HQ6DIOVXHIZLSGIWWQ5LOORSXEMQ="),
        ] {
            let form = encoded(b"hunter2-hunter2", offset, BASE32, 5);
            assert!(22 < form.len() && whole.as_bytes().windows(form.len()).any(|it| it == form), "{offset}");
        }
    }

    #[test]
    fn no_form_has_a_newline() {
        let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----\n";
        let forms = of(key.as_bytes());
        assert!(forms.iter().all(|it| !it.contains(&b'\n')));
        assert!(forms.contains(&b"MIIEvQIBADANBgkqhkiG9w0BAQEF".to_vec()));
    }
}
