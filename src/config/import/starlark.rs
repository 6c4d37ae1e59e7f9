//! The few sentences of Starlark that rule files are made of: calls with literal arguments. Anything else is
//! told with its line and not understood.

/// A literal value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<Value>),
    Word(String),
}

/// A statement of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) line: usize,
    /// The text of it, on one line.
    pub(super) text: String,
    /// The call; None for anything that is not literal.
    pub(super) call: Option<Call>,
}

/// A call with literal arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) named: Vec<(String, Value)>,
    /// Arguments without a name.
    pub(super) plain: usize,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Text(String),
    Word(String),
    Mark(char),
    /// What is not one of these: an odd quote, a number.
    Odd,
}

/// The statements of a file.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut found = vec![];
    for (line, source) in logical_lines(text) {
        let tokens = tokens(&source);
        if tokens.is_empty() {
            continue;
        }
        let mut parser = Parser { tokens: &tokens, at: 0 };
        let call = parser.call().filter(|_| parser.at == tokens.len() && !source.starts_with([' ', '\t']));
        let text = source.split_whitespace().collect::<Vec<_>>().join(" ");
        found.push(Statement { line, text, call });
    }
    found
}

/// Lines with what their brackets and quotes go on to.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = vec![];
    let (mut depth, mut quote): (usize, Option<String>) = (0, None);
    let mut fresh = true;
    for (index, line) in text.lines().enumerate() {
        if fresh {
            found.push((index + 1, String::new()));
        }
        let Some((_, current)) = found.last_mut() else { break };
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let mut take = c.len_utf8();
            match &quote {
                Some(_) if c == '\\' => {
                    take = (1 + rest.chars().nth(1).map_or(0, char::len_utf8)).min(rest.len())
                }
                Some(mark) if rest.starts_with(mark.as_str()) => {
                    take = mark.len();
                    quote = None;
                }
                Some(_) => {}
                None if c == '#' => break,
                None if matches!(c, '"' | '\'') => {
                    let long = c.to_string().repeat(3);
                    let mark = if rest.starts_with(&long) { long } else { c.to_string() };
                    take = mark.len();
                    quote = Some(mark);
                }
                None if matches!(c, '(' | '[' | '{') => depth += 1,
                None if matches!(c, ')' | ']' | '}') => depth = depth.saturating_sub(1),
                None => {}
            }
            let (taken, left) = rest.split_at(take);
            current.push_str(taken);
            rest = left;
        }
        // A plain quote ends with its line, whatever stands in it.
        quote = quote.filter(|mark| mark.len() == 3);
        fresh = depth == 0 && quote.is_none();
        current.push('\n');
    }
    found
}

fn tokens(text: &str) -> Vec<Token> {
    let mut chars = text.chars().peekable();
    let mut found = vec![];
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => {}
            '"' | '\'' => found.push(string(&mut chars, c)),
            c if c.is_alphabetic() || c == '_' => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    word.push(c);
                }
                // A prefix before a quote (r"", f"") makes another kind of text of it.
                let prefixed = chars.peek().is_some_and(|c| matches!(c, '"' | '\''));
                found.push(if prefixed { Token::Odd } else { Token::Word(word) });
            }
            '(' | ')' | '[' | ']' | ',' | '=' => found.push(Token::Mark(c)),
            _ => found.push(Token::Odd),
        }
    }
    found
}

fn string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, mark: char) -> Token {
    let mut text = String::new();
    if chars.next_if_eq(&mark).is_some() {
        // Empty, or the beginning of a long one, which rules have no use for.
        return if chars.peek() == Some(&mark) { Token::Odd } else { Token::Text(text) };
    }
    loop {
        match chars.next() {
            None | Some('\n') => return Token::Odd,
            Some(c) if c == mark => return Token::Text(text),
            Some('\\') => match chars.next() {
                Some(c @ ('"' | '\'' | '\\')) => text.push(c),
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                _ => return Token::Odd,
            },
            Some(c) => text.push(c),
        }
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<&Token> {
        self.at += 1;
        self.tokens.get(self.at - 1)
    }

    fn eat(&mut self, mark: char) -> bool {
        let there = self.tokens.get(self.at) == Some(&Token::Mark(mark));
        self.at += usize::from(there);
        there
    }

    fn call(&mut self) -> Option<Call> {
        let Some(Token::Word(name)) = self.next().cloned() else { return None };
        let mut call = Call { name, named: vec![], plain: 0 };
        if !self.eat('(') {
            return None;
        }
        while !self.eat(')') {
            let (this, after) = (self.tokens.get(self.at), self.tokens.get(self.at + 1));
            match (this.cloned(), after) {
                (Some(Token::Word(key)), Some(Token::Mark('='))) => {
                    self.at += 2;
                    let value = self.value()?;
                    call.named.push((key, value));
                }
                _ => {
                    self.value()?;
                    call.plain += 1;
                }
            }
            if !self.eat(',') && self.tokens.get(self.at) != Some(&Token::Mark(')')) {
                return None;
            }
        }
        Some(call)
    }

    fn value(&mut self) -> Option<Value> {
        match self.next()?.clone() {
            Token::Text(text) => Some(Value::Text(text)),
            Token::Word(word) if matches!(word.as_str(), "None" | "True" | "False") => {
                Some(Value::Word(word))
            }
            Token::Mark('[') => {
                let mut items = vec![];
                while !self.eat(']') {
                    items.push(self.value()?);
                    if !self.eat(',') && self.tokens.get(self.at) != Some(&Token::Mark(']')) {
                        return None;
                    }
                }
                Some(Value::List(items))
            }
            _ => None,
        }
    }
}

impl Call {
    /// The value of an argument.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.named.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

impl Value {
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn items(&self) -> Option<&[Value]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_calls_and_nothing_else() {
        let text = r#"
# a comment (with brackets
rule(pattern=["git", ["push", 'fetch']], decision = "allow",  # and another
     match=[],)
x = "rule("
rule("plain", key="it's \"so\"")
rule(pattern=names)
rule(f"x")
for n in ["a"]:
    rule(pattern=[n])
rule(a="x") + rule(b="y")
rule(key="""long
text""")
rule(key=1)
"#;
        let found: Vec<_> = statements(text)
            .into_iter()
            .map(|each| (each.line, each.call.map(|call| call.named.len())))
            .collect();
        let expected = [
            (3, Some(3)),
            (5, None),
            (6, Some(1)),
            (7, None),
            (8, None),
            (9, None),
            (10, None),
            (11, None),
            (12, None),
            (14, None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn values() {
        let call = statements("f(a=[\"x\", ['y \\'z']], b=None)").remove(0).call.expect("literal");
        let (x, y) = (Value::Text("x".into()), Value::Text("y 'z".into()));
        assert_eq!(call.get("a"), Some(&Value::List(vec![x, Value::List(vec![y])])));
        assert_eq!(call.get("b"), Some(&Value::Word("None".into())));
        assert_eq!((call.name.as_str(), call.plain), ("f", 0));
    }
}
