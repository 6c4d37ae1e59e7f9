//! A text with its quoted characters made harmless, for a second try of a grammar that stumbles over
//! some of them (`[[ $x = *"a b"* ]]`), with `<` for `<<<`, which it does not know behind another
//! redirection, and without a `$` that only stands for itself. Only the grammar sees it: words are read from
//! the text itself, and must fill exactly the ranges that the grammar finds.

/// The text with every character that means something to the grammar and stands in single quotes, or in
/// double quotes without an expansion that could nest, replaced by `_`, as is a `$`
/// before a backslash, and every `<<<` by `  <`. None when nothing was replaced, or when where a quotation
/// ends takes more than this to say.
pub(super) fn quiet(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    let mut changed = false;
    while let Some(&byte) = bytes.get(at) {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        match byte {
            b'\\' => at += 2,
            b'#' if before.is_none_or(|byte| b" \t\n;&|()".contains(&byte)) => {
                at += bytes.get(at..)?.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
            }
            b'\'' if before == Some(b'$') => return None,
            b'\'' | b'"' => {
                let inside = bytes.get(at + 1..)?;
                let length = inside.iter().position(|other| *other == byte)?;
                let stretch = bytes.get_mut(at + 1..at + 1 + length)?;
                if byte == b'"'
                    && stretch.iter().any(|byte| b"\\`({".contains(byte))
                    && stretch.contains(&b'$')
                    || byte == b'"' && stretch.iter().any(|byte| b"\\`".contains(byte))
                {
                    return None;
                }
                for byte in stretch.iter_mut().filter(|byte| b" \t|&;()<>*?[]{}!~=#'\"".contains(byte)) {
                    *byte = b'_';
                    changed = true;
                }
                at += length + 2;
            }
            b'<' => {
                let run = bytes.get(at..)?.iter().take_while(|byte| **byte == b'<').count();
                if run == 3 {
                    bytes.get_mut(at..at + 2)?.fill(b' ');
                    changed = true;
                }
                at += run;
            }
            // A dollar sign, and nothing more.
            b'$' if bytes.get(at + 1) == Some(&b'\\') => {
                *bytes.get_mut(at)? = b'_';
                changed = true;
                at += 1;
            }
            _ => at += 1,
        }
    }
    String::from_utf8(bytes).ok().filter(|_| changed)
}

#[cfg(test)]
mod tests {
    use super::quiet;

    #[test]
    fn only_what_quotes_hold_is_replaced() {
        for (text, expected) in [
            ("a 'b c' d", Some("a 'b_c' d")),
            ("[[ $x = *\"A B\"* ]]", Some("[[ $x = *\"A_B\"* ]]")),
            ("echo \"$x y\"", Some("echo \"$x_y\"")),
            ("echo \"$(ls; rm)\"", None),
            ("echo \"a\\\"b c\"", None),
            ("echo $'a b'", None),
            ("echo a # it's; so", None),
            ("echo 'a", None),
            ("plain words", None),
            ("a $\\? $b", Some("a _\\? $b")),
            ("a >b <<<c", Some("a >b   <c")),
            ("a '<<<' <<<< b", Some("a '___' <<<< b")),
        ] {
            assert_eq!(quiet(text).as_deref(), expected, "{text}");
        }
    }
}
