//! What a tracer wrote down (strace 6): programs that were started, addresses that were reached for.

use crate::inside::Start;

/// Every program that was started, in order. The directory is not in the trace.
pub(crate) fn starts(trace: &str) -> Vec<Start> {
    calls(trace, "execve").filter_map(start).collect()
}

fn start(call: &str) -> Option<Start> {
    // What failed was no start; what was interrupted in the trace may have been one.
    if call.contains(") = -1 ") {
        return None;
    }
    let (path, rest) = text(call)?;
    let mut rest = rest.strip_prefix(", [")?;
    let mut argv = Vec::new();
    while let Some((word, after)) = text(rest) {
        argv.push(word);
        rest = after.strip_prefix("...").unwrap_or(after);
        rest = rest.strip_prefix(", ").unwrap_or(rest);
    }
    Some(Start { cwd: String::new(), path, argv })
}

/// Every address that a program reached for, but those of its own machine; a question for a name is asked of
/// others in any case.
pub(crate) fn reached(trace: &str) -> Vec<String> {
    let sends = ["connect", "sendto", "sendmsg", "sendmmsg"];
    let calls = sends.iter().flat_map(|name| calls(trace, name));
    let mut found: Vec<String> = calls.filter_map(address).collect();
    found.dedup();
    found
}

fn address(call: &str) -> Option<String> {
    let at = call.find("sa_family=AF_INET")?;
    let address: String = call.get(at..)?.chars().take(120).take_while(|letter| *letter != '}').collect();
    let own = address.contains("inet_addr(\"127.") || address.contains("\"::1\"");
    (!own || address.contains("htons(53)")).then_some(address)
}

/// The calls of one name, from behind the opening parenthesis.
fn calls<'t>(trace: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    trace.lines().filter_map(move |line| {
        let line = line.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start();
        line.strip_prefix(name)?.strip_prefix('(')
    })
}

/// A quoted text at the start, and what follows it.
fn text(from: &str) -> Option<(String, &str)> {
    let inside = from.strip_prefix('"')?;
    let mut word = String::new();
    let mut letters = inside.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((word, inside.get(at + 1..)?)),
            '\\' => word.push(match letters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            letter => word.push(letter),
        }
    }
    None
}
