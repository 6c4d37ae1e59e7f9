//! What the other parser may cost.
//!
//! It goes back over what it has read: twice for every level of nesting in a word or of parentheses, and
//! without end where they are not closed. It also recurses. Texts that we have understood are closed, but
//! where the other parser cuts a word otherwise than we do, it may meet anything: so the bounds are taken
//! from the bytes and tokens it is given, not from our reading. None of them is a time.

use brush_parser::Token;

/// Expansions in one text: each may cost a recursion.
const MOST_EXPANSIONS: usize = 400;

/// Words that open a command, in one text: each may cost a deeper recursion.
const MOST_OPENINGS: usize = 200;

/// What may open a command inside another.
const OPENINGS: [&str; 9] = ["(", "{", "if", "while", "until", "for", "case", "coproc", "!"];

/// Bytes, doubled for every level of nesting.
const MOST_WORK: usize = 1 << 20;

/// What a token costs beside a byte of a word.
const TOKEN: usize = 16;

/// What is left for one text and all that it holds.
#[derive(Debug)]
pub(super) struct Work {
    left: usize,
}

impl Work {
    pub(super) fn new() -> Self {
        Self { left: MOST_WORK }
    }

    /// Whether a text may be cut into tokens.
    pub(super) fn allows_text(text: &str) -> bool {
        let opens = |two: &&[u8]| matches!(two, [b'$', b'(' | b'{' | b'[']);
        text.as_bytes().windows(2).filter(opens).count() <= MOST_EXPANSIONS
    }

    /// Pays for reading these tokens as commands.
    pub(super) fn pay_tokens(&mut self, tokens: &[Token]) -> bool {
        let openings = tokens.iter().filter(|token| OPENINGS.contains(&token.to_str())).count();
        openings <= MOST_OPENINGS && self.pay(tokens.len() * TOKEN, token_levels(tokens))
    }

    /// Pays for reading a word.
    pub(super) fn pay_word(&mut self, raw: &str) -> bool {
        self.pay(raw.len(), word_levels(raw))
    }

    fn pay(&mut self, length: usize, levels: u32) -> bool {
        let cost = if levels < 20 { length << levels } else { usize::MAX };
        match self.left.checked_sub(cost) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

/// How deep parentheses and `case` stand in each other. The `)` behind a pattern closes nothing.
fn token_levels(tokens: &[Token]) -> u32 {
    let mut levels = Levels::default();
    for token in tokens {
        match token {
            Token::Operator(text, _) if text == "(" => levels.open(b'(', 1),
            Token::Operator(text, _) if text == ")" => levels.close(b'('),
            Token::Word(text, _) if text == "case" => levels.open(b'c', 1),
            Token::Word(text, _) if text == "esac" => levels.close(b'c'),
            _ => {}
        }
    }
    levels.deepest
}

/// How deep a word may look nested to a reader that pairs its quotes otherwise: an opening character
/// is closed only by one that no quote separates from it.
fn word_levels(raw: &str) -> u32 {
    if !raw.contains(['$', '`']) {
        return 0;
    }
    let commands = raw.contains("$(") || raw.contains('`');
    let mut levels = Levels::default();
    let mut before = 0u8;
    for byte in raw.bytes() {
        match byte {
            b'(' if commands => levels.open(byte, 1),
            b'{' if before == b'$' => levels.open(byte, 1),
            // The subscript of a parameter is read again for each of some thirty operators.
            b'[' if before == b'$' || before == b'_' || before.is_ascii_alphanumeric() => {
                levels.open(byte, 5)
            }
            b')' if before != b'\\' => levels.close(b'('),
            b'}' if before != b'\\' => levels.close(b'{'),
            b']' if before != b'\\' => levels.close(b'['),
            b'\'' | b'"' | b'`' => levels.open.clear(),
            _ => {}
        }
        before = byte;
    }
    levels.deepest
}

/// What is open, and how much is or may be.
#[derive(Default)]
struct Levels {
    /// What a closing character may still close, with its weight.
    open: Vec<(u8, u32)>,
    level: u32,
    deepest: u32,
}

impl Levels {
    fn open(&mut self, opening: u8, weight: u32) {
        self.open.push((opening, weight));
        self.level = self.level.saturating_add(weight);
        self.deepest = self.deepest.max(self.level);
    }

    fn close(&mut self, opening: u8) {
        if let Some((_, weight)) = self.open.pop_if(|(last, _)| *last == opening) {
            self.level -= weight;
        }
    }
}
