//! What two readings of one text are compared by.

/// An expansion, as a part of a word. No text holds a NUL.
pub(super) const PARAMETER: &str = "\0v";
/// `$( … )` or backticks, as a part of a word.
pub(super) const SUBSTITUTION: &str = "\0s";
/// `<( … )`, as a part of a word.
pub(super) const PROCESS_INPUT: &str = "\0i";
/// `>( … )`, as a part of a word.
pub(super) const PROCESS_OUTPUT: &str = "\0o";
/// `$(( … ))`, as a part of a word.
pub(super) const ARITHMETIC: &str = "\0a";

/// What stands between two words.
const BETWEEN: &str = "\0 ";

/// What a reading found, without order.
#[derive(Debug, Default)]
pub(super) struct Items(Vec<String>);

impl Items {
    /// A simple command: its assignments and words.
    pub(super) fn command(&mut self, assignments: &[String], words: &[String]) {
        let words = if assignments.is_empty() { without_time(words) } else { words };
        if !assignments.is_empty() || !words.is_empty() {
            self.push("c", &[&assignments.join(BETWEEN), &words.join(BETWEEN)]);
        }
    }

    /// A redirection; the descriptor as written.
    pub(super) fn redirection(&mut self, descriptor: &str, operator: &str, target: &str) {
        self.push("r", &[descriptor, operator, target]);
    }

    /// `for NAME in WORDS`; None means `"$@"`.
    pub(super) fn loop_words(&mut self, name: &str, words: Option<&[String]>) {
        self.push("f", &[name, &words.map_or_else(|| PARAMETER.to_owned(), |words| words.join(BETWEEN))]);
    }

    /// The word after `case`, and the patterns of an arm.
    pub(super) fn case_words(&mut self, words: &[String]) {
        self.push("p", &[&words.join(BETWEEN)]);
    }

    /// The name of a function that is defined.
    pub(super) fn function(&mut self, name: &str) {
        self.push("d", &[name]);
    }

    /// The words of each simple command, its assignments first.
    #[cfg(test)]
    pub(super) fn commands(&self) -> impl Iterator<Item = impl Iterator<Item = &str>> {
        let commands = self.0.iter().filter_map(|item| item.strip_prefix("c")?.strip_prefix(BETWEEN));
        commands.map(|words| {
            // An empty part stands before the words where nothing is assigned.
            words.strip_prefix(BETWEEN).unwrap_or(words).split(BETWEEN)
        })
    }

    fn push(&mut self, kind: &str, parts: &[&str]) {
        let mut item = String::with_capacity(1 + parts.iter().map(|part| part.len() + 2).sum::<usize>());
        item.push_str(kind);
        for part in parts {
            item.push_str(BETWEEN);
            item.push_str(part);
        }
        self.0.push(item);
    }

    fn into_set(mut self) -> Vec<String> {
        self.0.sort_unstable();
        self.0.dedup();
        self.0
    }
}

/// `( … )` behind an assignment's `=`.
pub(super) fn array(words: &[String]) -> String {
    format!("({})", words.join(BETWEEN))
}

/// The command that `time` measures: one reading takes it for a word, the other for the shell's own.
fn without_time(words: &[String]) -> &[String] {
    match words {
        [time, option, rest @ ..] if time == "time" && option == "-p" => rest,
        [time, rest @ ..] if time == "time" => rest,
        _ => words,
    }
}

/// The first item that only one of the two holds, for a person.
pub(super) fn first_difference(own: Items, other: Items) -> Option<String> {
    let (own, other) = (own.into_set(), other.into_set());
    if own == other {
        return None;
    }
    let missing =
        |of: &[String], all: &[String]| of.iter().find(|item| all.binary_search(item).is_err()).cloned();
    match missing(&other, &own) {
        Some(more) => Some(format!("only the other parser sees {}", shown(&more))),
        None => missing(&own, &other).map(|less| format!("the other parser does not see {}", shown(&less))),
    }
}

/// An item as a person may read it.
fn shown(item: &str) -> String {
    const MOST: usize = 80;
    let kind = match item.as_bytes().first() {
        Some(b'c') => "the command",
        Some(b'r') => "the redirection",
        Some(b'f') => "the loop over",
        Some(b'p') => "the patterns",
        _ => "the function",
    };
    let text = item.get(1..).unwrap_or_default().replace(BETWEEN, " ");
    let text = [PARAMETER, SUBSTITUTION, PROCESS_INPUT, PROCESS_OUTPUT, ARITHMETIC]
        .iter()
        .fold(text, |text, expansion| text.replace(expansion, "$…"));
    let text: String = text.trim().chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{kind} `{text}`")
}
