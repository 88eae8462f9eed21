//! The rules for names and labels. Each function says what is wrong, or `None`.

const DNS1123_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', \
    and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation \
    is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS1123_SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
    '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation \
    is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const DNS1035_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with \
    an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
    validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
    '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
    used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const QUALIFIED_NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and \
    end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn ends_fit(text: &str, fits: fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().copied().is_some_and(fits) && bytes.last().copied().is_some_and(fits)
}

fn is_label(text: &str) -> bool {
    ends_fit(text, is_lower) && text.bytes().all(|byte| is_lower(byte) || byte == b'-')
}

/// An RFC 1123 label of at most 63 characters.
pub(crate) fn dns1123_label(name: &str) -> Option<String> {
    if name.len() > 63 {
        return Some("must be no more than 63 bytes".to_owned());
    }
    (!is_label(name)).then(|| DNS1123_LABEL.to_owned())
}

/// An RFC 1035 label of at most 63 characters, as Services need it.
pub(crate) fn dns1035_label(name: &str) -> Option<String> {
    if name.len() > 63 {
        return Some("must be no more than 63 bytes".to_owned());
    }
    let starts = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    (!(starts && is_label(name))).then(|| DNS1035_LABEL.to_owned())
}

/// An RFC 1123 subdomain of at most 253 characters: the rule for most names.
pub(crate) fn dns1123_subdomain(name: &str) -> Option<String> {
    if name.len() > 253 {
        return Some("must be no more than 253 bytes".to_owned());
    }
    (!name.split('.').all(is_label)).then(|| DNS1123_SUBDOMAIN.to_owned())
}

/// A name that may stand as one segment of a path: the rule for RBAC objects.
pub(crate) fn path_segment(name: &str) -> Option<String> {
    if name == "." || name == ".." {
        return Some(format!("may not be '{name}'"));
    }
    let bad = ['/', '%'].into_iter().find(|letter| name.contains(*letter));
    bad.map(|letter| format!("may not contain '{letter}'"))
}

/// The value of a label.
pub(crate) fn label_value(value: &str) -> Option<String> {
    if value.len() > 63 {
        return Some("must be no more than 63 bytes".to_owned());
    }
    (!value.is_empty() && !is_name_part(value)).then(|| LABEL_VALUE.to_owned())
}

/// The key of a label or annotation: an optional DNS prefix and a name.
pub(crate) fn qualified_name(key: &str) -> Option<String> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            return Some("prefix part must be non-empty".to_owned());
        }
        if let Some(why) = dns1123_subdomain(prefix) {
            return Some(format!("prefix part {why}"));
        }
    }
    if name.is_empty() {
        return Some("name part must be non-empty".to_owned());
    }
    if name.len() > 63 {
        return Some("name part must be no more than 63 bytes".to_owned());
    }
    (!is_name_part(name)).then(|| QUALIFIED_NAME.to_owned())
}

fn is_name_part(text: &str) -> bool {
    ends_fit(text, |byte| byte.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Says what is wrong with a key of a `ConfigMap` or a `Secret`.
pub(crate) fn data_key(key: &str) -> Option<String> {
    if key.len() > 253 {
        return Some(String::from("must be no more than 253 characters"));
    }
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if key.is_empty() || !key.chars().all(is_fit) {
        let what = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        return Some(String::from(what));
    }
    let is_path = key == "." || key.starts_with("..");
    is_path.then(|| String::from("must not be '.', '..' or start with '..'"))
}

/// Tells whether a text is a Kubernetes quantity: a decimal number and a suffix.
pub(crate) fn is_quantity(text: &str) -> bool {
    const SUFFIXES: [&str; 17] =
        ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "K"];
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let points = number.len() - digits;
    let exponent =
        suffix.strip_prefix(['e', 'E']).is_some_and(|power| power.parse::<i16>().is_ok());
    digits > 0 && points <= 1 && (exponent || (suffix != "K" && SUFFIXES.contains(&suffix)))
}
