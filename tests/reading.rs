//! How texts are read: what must be understood, what must not, and laws of the reading.

use gsh::syntax::{
    AssignedValue, Cause, Command, Connective, Limits, ParameterForm, Piece, Redirection, Script, Simple,
    Statement, Word, parse, quote,
};
use proptest::prelude::*;

/// The first reading alone: where the second differs is told in `tests/second.rs`.
fn read(text: &str) -> Script {
    let mut script = parse(text.as_bytes(), &Limits::default());
    script.problems.retain(|problem| !problem.detail.starts_with("second-reading"));
    script
}

/// A script in one line, to compare structures.
fn show(script: &Script) -> String {
    statements(&script.body)
}

fn statements(body: &[Statement]) -> String {
    let each = |statement: &Statement| {
        let end = if statement.background { " &" } else { "" };
        format!("{}{end}", command(&statement.command))
    };
    body.iter().map(each).collect::<Vec<_>>().join("; ")
}

fn command(value: &Command) -> String {
    match value {
        Command::Simple(value) => simple(value),
        Command::Pipeline { parts, negated, .. } => {
            let parts: Vec<String> = parts.iter().map(command).collect();
            format!("{}pipe({})", if *negated { "!" } else { "" }, parts.join(" | "))
        }
        Command::AndOr { left, operator, right, .. } => {
            let operator = if *operator == Connective::And { "&&" } else { "||" };
            format!("({} {operator} {})", command(left), command(right))
        }
        Command::Group(body) => format!("group({})", statements(body)),
        Command::Subshell(body) => format!("subshell({})", statements(body)),
        Command::If { arms, otherwise } => {
            let arms: Vec<String> = arms
                .iter()
                .map(|(condition, body)| format!("if({}) {}", statements(condition), statements(body)))
                .collect();
            format!("{} else {}", arms.join(" el"), statements(otherwise))
        }
        Command::Loop { condition, body } => format!("loop({}) {}", statements(condition), statements(body)),
        Command::For { name, words, body } => {
            let words: Vec<String> = words.iter().flatten().map(word).collect();
            format!("for({name} in {}) {}", words.join(" "), statements(body))
        }
        Command::ArithmeticFor { header, body } => format!("for(({})) {}", header.text, statements(body)),
        Command::Case { subject, arms } => {
            let arm = |(patterns, body): &(Vec<Word>, Vec<Statement>)| {
                let patterns: Vec<String> = patterns.iter().map(word).collect();
                format!("{}) {}", patterns.join("|"), statements(body))
            };
            format!("case({}) {}", word(subject), arms.iter().map(arm).collect::<Vec<_>>().join(";; "))
        }
        Command::Function { name, body, .. } => format!("function {name} {}", command(body)),
        Command::Test { words, .. } => {
            format!("test({})", words.iter().map(word).collect::<Vec<_>>().join(" "))
        }
        Command::Arithmetic(value) => format!("(({}))[{}]", value.text, value.names.join(",")),
        Command::Redirected { command: inner, redirections, .. } => {
            let redirections: Vec<String> = redirections.iter().map(redirection).collect();
            format!("{} {}", command(inner), redirections.join(" "))
        }
        Command::NotUnderstood(problem) => format!("?{}", problem.detail),
    }
}

fn simple(value: &Simple) -> String {
    let mut all = Vec::new();
    for assignment in &value.assignments {
        let subscript = assignment.subscript.as_ref().map_or(String::new(), |text| format!("[{text}]"));
        let plus = if assignment.append { "+" } else { "" };
        let assigned = match &assignment.value {
            AssignedValue::Word(value) => word(value),
            AssignedValue::Array(words) => {
                format!("({})", words.iter().map(word).collect::<Vec<_>>().join(" "))
            }
        };
        all.push(format!("{}{subscript}{plus}={assigned}", assignment.name));
    }
    all.extend(value.words.iter().map(word));
    all.extend(value.redirections.iter().map(redirection));
    all.join(" ")
}

fn redirection(value: &Redirection) -> String {
    let descriptor = value.descriptor.as_ref().map_or(String::new(), |found| format!("{found:?} "));
    format!("<{descriptor}{:?} {}>", value.operator, word(&value.target))
}

fn word(value: &Word) -> String {
    value.pieces.iter().map(piece).collect()
}

fn piece(value: &Piece) -> String {
    match value {
        Piece::Text { text, quoted: false } => text.clone(),
        Piece::Text { text, quoted: true } => format!("{text:?}"),
        Piece::Tilde(text) => format!("~({text})"),
        Piece::Parameter { name, form, quoted } => {
            let form = match form {
                ParameterForm::Plain => String::new(),
                ParameterForm::Length => ",length".to_owned(),
                ParameterForm::Indirect => ",indirect".to_owned(),
                ParameterForm::Fallback { operator, operand } => format!("{operator}{}", word(operand)),
                ParameterForm::Edit { operator, operand } => format!("{operator}{operand}"),
            };
            format!("{}{{{name}{form}}}", if *quoted { "\"$" } else { "$" })
        }
        Piece::Substitution { script, quoted } => {
            format!("{}({})", if *quoted { "\"$" } else { "$" }, show(script))
        }
        Piece::Process { script, output } => format!("{}({})", if *output { ">" } else { "<" }, show(script)),
        Piece::Arithmetic(value) => format!("$(({}))[{}]", value.text, value.names.join(",")),
    }
}

fn assert_read(table: &[(&str, &str)]) {
    for (text, expected) in table {
        let script = read(text);
        assert!(script.problems.is_empty(), "{text:?} is not understood: {:?}", script.problems);
        assert_eq!(show(&script), *expected, "reading {text:?}");
    }
}

#[test]
fn everyday_shapes_are_understood() {
    let file = include_str!("cases/shapes.txt");
    let (_, texts) = file.split_once('\n').expect("a first line that explains the file");
    let texts: Vec<&str> = texts.split("%%\n").filter(|text| !text.is_empty()).collect();
    assert!(texts.len() >= 100, "{} texts", texts.len());
    for text in texts {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let script = read(text);
        assert!(script.problems.is_empty(), "{text}\n{:?}", script.problems);
    }
}

#[test]
fn lists_and_pipelines_group_as_in_bash() {
    assert_read(&[
        ("a; b & c", "a; b &; c"),
        ("a && b || c", "((a && b) || c)"),
        ("a || b && c | d", "((a || b) && pipe(c | d))"),
        ("cd x && make 2>&1 | tee l", "(cd x && pipe(make <Number(2) DuplicateOutput 1> | tee l))"),
        ("a && b > f && c", "((a && b <Write f>) && c)"),
        ("a | b > f", "pipe(a | b <Write f>)"),
        ("a > f | b && c 2>g || d", "((pipe(a <Write f> | b) && c <Number(2) Write g>) || d)"),
        ("! a | b", "!pipe(a | b)"),
        ("! a > f && b", "(!pipe(a <Write f>) && b)"),
        ("a |& b", "pipe(a <Number(2) DuplicateOutput 1> | b)"),
        ("{ a; } |& b", "pipe(group(a) <Number(2) DuplicateOutput 1> | b)"),
        ("a &&\n\n# note\nb |\nc", "(a && pipe(b | c))"),
        ("(a; b) | { c; } > f", "pipe(subshell(a; b) | group(c) <Write f>)"),
        ("a &\nb", "a &; b"),
        ("", ""),
        ("# only a comment", ""),
    ]);
}

#[test]
fn compound_commands_keep_their_parts() {
    assert_read(&[
        ("if a; then b; elif c; then d; else e; fi > f", "if(a) b elif(c) d else e <Write f>"),
        ("while a; do b; done < f", "loop(a) b <Read f>"),
        ("until a\ndo b\ndone", "loop(a) b"),
        ("for x in a *.c \"$y\"; do b; done", "for(x in a *.c \"\"\"${y}) b"),
        ("for x\ndo b; done", "for(x in ) b"),
        ("for ((i=0; i<n; i++)); do b; done", "for((i=0; i<n; i++)) b"),
        ("case $x in a|b) c;; (*) d ;& e) f\nesac", "case(${x}) a|b) c;; *) d;; e) f"),
        ("f() { a; }", "function f group(a)"),
        ("f() { a; } > g", "function f group(a) <Write g>"),
        ("function f { a; }", "function f group(a)"),
        ("[[ -n $x && ! ( a < b ) || $y =~ ^(a|b)$ ]]", "test(-n ${x} && ! ( a < b ) || ${y} =~ ^(a|b)$)"),
        ("[[ a =~ (b|c)+ && ( x ) ]]", "test(a =~ (b|c)+ && ( x ))"),
        ("(( x + ${y} * $# ))", "(( x + ${y} * $# ))[x,y,#]"),
        ("{ a; b; }", "group(a; b)"),
        ("time -p a b", "time -p a b"),
        ("[ -f x ] && [ ! -d y ]", "([ -f x ] && [ ! -d y ])"),
    ]);
}

#[test]
fn words_are_what_bash_makes_of_their_bytes() {
    assert_read(&[
        ("find . 2>/dev/null -delete", "find . -delete <Number(2) Write /dev/null>"),
        ("python3 - < x", "python3 - <Read x>"),
        ("a=1 b+=2 c[3]=4 d=(e 'f') g h=i", "a=1 b+=2 c[3]=4 d=(e \"f\") g h=i"),
        ("ls \\ x a\\ b", "ls \" \"x a\" \"b"),
        ("ls \\\n  -l", "ls -l"),
        ("ls\\\n -l", "ls -l"),
        ("echo \"a\\\nb\"", "echo \"ab\""),
        ("echo `date` `a \\`b\\``", "echo $(date) $(a $(b))"),
        ("echo n``m", "echo n$()m"),
        ("ls x<(a) /lib/`b`/c", "ls x<(a) /lib/$(b)/c"),
        (
            "a > >(b) 2>&1 {fd}>c 3<&-",
            concat!(
                "a <Write >(b)> <Number(2) DuplicateOutput 1> <Variable(\"fd\") Write c> ",
                "<Number(3) DuplicateInput ->"
            ),
        ),
        ("echo $2c $$x ${10} $1", "echo ${2}c ${$}x ${10} ${1}"),
        ("echo a$ \"$\" \"a$\"", "echo a$ \"$\" \"a$\""),
        ("echo $'a\\tb\\x41\\101\\'' 'c'", "echo \"a\\tbAA'\" \"c\""),
        ("echo ~ ~/x ~u/y a~ x=~/z '~' \\~", "echo ~(~) ~(~)/x ~(~u)/y a~ x=~(~)/z \"~\" \"~\""),
        ("P=~/a:~b:c x", "P=~(~)/a:~(~b):c x"),
        ("echo ~$x ~\"a\"", "echo ~${x} ~\"a\""),
        (
            "echo ${#x} ${x[@]} ${x[2]} ${x:-$y/b} ${x##*/}",
            "echo ${x,length} ${x[@]} ${x[2]} ${x:-${y}/b} ${x##*/}",
        ),
        ("echo \"${x:=$(a b)}\"", "echo \"\"\"${x:=\"$(a b)}"),
        ("echo $((x * 2)) $[y+1]", "echo $((x * 2))[x] $((y+1))[y]"),
        ("echo a#b '#c' # d", "echo a#b \"#c\""),
        ("echo {a,b}{1..3} [x]* ?", "echo {a,b}{1..3} [x]* ?"),
        ("echo }", "echo }"),
        ("a >f<g", "a <Write f> <Read g>"),
        ("a 1<> /d '<>' b <>c", "a \"<>\" b <Number(1) ReadWrite /d> <ReadWrite c>"),
        ("head -200>f", "head -200 <Write f>"),
        ("export A=1 >o B", "export A=1 B <Write o>"),
    ]);
}

#[test]
fn here_documents_end_where_bash_ends_them() {
    assert_read(&[
        ("cat <<E\na $x\nE\nb", "cat <HereDocument \"a \"\"${x}\"\\n\">; b"),
        ("cat <<'E'\na $x 'b\nE", "cat <HereDocument \"a $x 'b\\n\">"),
        ("cat <<\\E\n$x\nE", "cat <HereDocument \"$x\\n\">"),
        ("cat <<\"E F\"\n$x\nE F\n", "cat <HereDocument \"$x\\n\">"),
        ("cat <<-E\n\ta\n\tE\nb", "cat <HereDocument \"a\\n\">; b"),
        ("cat <<E\n E\nE \nE;\nE", "cat <HereDocument \" E\\nE \\nE;\\n\">"),
        ("cat <<''\na\n\nb", "cat <HereDocument \"a\\n\">; b"),
        ("cat <<E\na", "cat <HereDocument \"a\">"),
        ("cat <<E", "cat <HereDocument \"\">"),
        ("cat <<E x > f\na\nE", "cat x <HereDocument \"a\\n\"> <Write f>"),
        ("cat <<A <<B\na\nA\nb\nB", "cat <HereDocument \"a\\n\"> <HereDocument \"b\\n\">"),
        ("cat <<A && c\na\nA", "(cat <HereDocument \"a\\n\"> && c)"),
        ("cat <<A | c\na\nA", "pipe(cat <HereDocument \"a\\n\"> | c)"),
        ("cat <<A; c\na\nA", "cat <HereDocument \"a\\n\">; c"),
        ("<<A c\na\nA", "c <HereDocument \"a\\n\">"),
        ("c 3<<A\na\nA", "c <Number(3) HereDocument \"a\\n\">"),
        ("x -m \"$(cat <<'E'\nit's \"\nE\n)\" y", "x -m \"\"\"$(cat <HereDocument \"it's \\\"\\n\">) y"),
        (
            "cat <<E\n`a` $(b \"c\") $((1+x)) ${y}\nE",
            "cat <HereDocument \"\"\"$(a)\" \"\"$(b \"c\")\" \"$((1+x))[x]\" \"\"${y}\"\\n\">",
        ),
        ("cat <<E\n\\$x \\` \\\\ \\q \"\nE", "cat <HereDocument \"$x ` \\\\ \\\\q \\\"\\n\">"),
        ("cat <<E\na\\\nb\nE", "cat <HereDocument \"ab\\n\">"),
        ("(( x << 2 )); echo $((1<<3)) '<<' # <<", "(( x << 2 ))[x]; echo $((1<<3))[] \"<<\""),
        ("echo \\\\ # it's\ncat <<E\n'\nE", "echo \"\\\\\"; cat <HereDocument \"'\\n\">"),
        ("cat <<< 'a b'", "cat <HereString \"a b\">"),
    ]);
}

/// Each check, with a text that made it necessary.
const REFUSED: &[(&str, &str)] = &[
    ("odd-char", "rm\rx"),
    ("odd-char", "ls\u{a0}x"),
    ("odd-char", "ls\u{c}rm x"),
    ("odd-char", "r\u{200b}m x"),
    ("odd-char", "a\0b"),
    ("error-node", "echo \"a"),
    ("error-node", "if a; then"),
    ("line-continuation", "r\\\nm x"),
    ("line-continuation", "echo a\\\n#c; rm x"),
    ("line-continuation", "echo \"$m\\\nx\""),
    ("line-continuation", "ls >\\\n>x"),
    ("newline-in-command", "[ -\n3 ]"),
    ("operator-in-command", "[ b&t ]"),
    ("operator-in-command", "time ( rm x )"),
    ("gap-text", "echo a $(b)`c`(d)"),
    ("separator", "ls;; rm x"),
    ("keyword-glued", "!] x"),
    ("brace-group", "{rm x; }"),
    ("brace-group", "{}"),
    ("reserved-word", "coproc rm x"),
    ("reserved-word", "! ! rm x"),
    ("time", "time time rm x"),
    ("time", "time a=1 rm x"),
    ("time", "time -x rm"),
    ("adjacent-words", "a=(a)rm x"),
    ("subscript", "a[$(rm x)]=1"),
    ("subscript", "a['$(rm x)']=1"),
    ("subscript", "a=([$(rm x)]=1)"),
    ("subscript", "echo ${a['$(rm x)']}"),
    ("subscript", "echo ${a[$i]}"),
    ("subscript", "s a['$(x)']=1"),
    ("arith", "(( '$(rm x)' ))"),
    ("arith", "echo $((a[0]))"),
    ("arith", "echo $(( `rm x` ))"),
    ("indirect", "echo ${!x@}"),
    ("indirect", "echo ${!x[@]}"),
    ("expansion", "echo ${x@P}"),
    ("expansion", "echo ${ rm x; }"),
    ("expansion-operand", "echo \"${x:-'$(rm x)'}\""),
    ("expansion-operand", "echo ${x:-`rm x`}"),
    ("expansion-operand", "echo ${x#$(rm x)}"),
    ("expansion-operand", "echo ${x:y}"),
    ("dollar-quote", "echo $\"a\"b"),
    ("double-dollar", "o \"$${\"'$(x)'\"}\""),
    ("ansi-quote", "echo $'\\cx'"),
    ("ansi-quote", "echo $'\\u0041'"),
    ("ansi-quote", "echo $'a\\0b'"),
    ("ansi-quote", "echo $'\\xff'"),
    ("backtick", "echo `echo a # b`; rm x"),
    ("backtick", "echo \"`a \\\\b`\""),
    ("substitution", "echo \"$ $(rm x)\""),
    ("redirect-args", "ls >& -m"),
    ("redirect-args", "{ a; } > f b"),
    ("redirect-op", "ls 99999999999>f"),
    ("trailing-backslash", "rm x\\"),
    ("function-name", "f+g() { rm x; }"),
    ("function-body", "f() [[ a ]]"),
    ("regex", "[[ a =~ (b c) ]]"),
    ("heredoc-delim", "cat <<E\"O\"F\nEOF"),
    ("heredoc-delim", "cat <<2>&1\n2"),
    ("heredoc-delim", "cat <<$x\na\n$x"),
    ("heredoc-end", "x \"$(cat <<E\nEa)\nE\n)\""),
    ("heredoc-end", "x $(cat <<E\na"),
    ("heredoc-nested", "cat <<E $(a\nb\nE\n)"),
    ("heredoc-line", "cat <<E 'a\nE\n'"),
    ("heredoc-line", "cat <<E \"a\nE\n\""),
    ("heredoc-case", "x $(case a in b) cat <<E\nE\nesac)"),
    ("heredoc-parens", "((cat <<E) ; x)\nE\n"),
    ("heredoc-backtick", "x `cat <<E\nE\n`"),
    ("heredoc-continuation", "cat <<E\na\nE\\\n\nrm x\nE"),
    ("heredoc-expansion", "cat <<E ${x:-'a}\nE\n'}"),
    ("unclosed-quote", "echo 'a; cat <<E\nE"),
    ("redirect-args", "ls > 2>&1"),
    ("empty-body", "if true; then\n# a\nelse\nb\nfi"),
    ("empty-body", "if a; then b; else\nfi"),
    ("empty-body", "while a; do\ndone"),
    ("empty-body", "f() {\n}"),
];

#[test]
fn each_check_refuses_its_text() {
    for (check, text) in REFUSED {
        let script = read(text);
        let found: Vec<&str> = script.problems.iter().map(|problem| problem.detail.as_str()).collect();
        assert!(found.iter().any(|detail| detail.starts_with(check)), "{check}: {text:?} gives {found:?}");
    }
}

#[test]
fn lines_that_the_grammar_loses_are_commands_of_their_own() {
    assert_read(&[
        ("ls\n\\rm x", "ls; \"r\"m x"),
        ("ls # c\n\\rm x", "ls; \"r\"m x"),
        ("ls >o # c\n\\rm x\n\\a b", "ls <Write o>; \"r\"m x; \"a\" b"),
        ("ls\n\n# c\n\n\\rm x", "ls; \"r\"m x"),
        ("a=1\n\\rm x", "a=1; \"r\"m x"),
        ("{ ls\n\\rm x; }", "group(ls; \"r\"m x)"),
        ("echo $(ls\n\\rm x)", "echo $(ls; \"r\"m x)"),
        ("echo `ls\n\\\\rm x`", "echo $(ls; \"r\"m x)"),
        ("for i in a\ndo ls\n\\rm x\ndone", "for(i in a) ls; \"r\"m x"),
        ("if a\n\\b\nthen c\n\\d\nfi", "if(a; \"b\") c; \"d\" else "),
        ("a | b\nc 2>/dev/null", "pipe(a | b); c <Number(2) Write /dev/null>"),
        ("cat <<E\nx\nE\n\\rm y", "cat <HereDocument \"x\\n\">; \"r\"m y"),
        ("a &&\n\\b\n\\c", "(a && \"b\"); \"c\""),
    ]);
}

#[test]
fn what_was_not_understood_hides_nothing_else() {
    let script = read("rm -rf / ; echo ${!x*}; ls $'\\c'; shutdown now");
    assert_eq!(show(&script), "rm -rf /; ?indirect; ?ansi-quote; shutdown now");
    assert_eq!(script.problems.len(), 2);
    let inner = read("echo \"$(a; ${!b@}; c)\"");
    assert_eq!(show(&inner), "echo \"\"\"$(a; ?indirect; c)");
    assert_eq!(inner.problems.len(), 1, "a problem inside a substitution is one of the whole text");
}

#[test]
fn not_utf8_is_a_problem() {
    let script = parse(b"ls \xff; rm x", &Limits::default());
    assert_eq!(script.problems[0].cause, Cause::ParseError);
}

fn assert_limit(text: &str, limits: &Limits) {
    let script = parse(text.as_bytes(), limits);
    let causes: Vec<Cause> = script.problems.iter().map(|problem| problem.cause).collect();
    assert!(causes.contains(&Cause::Limit), "{:?}: {causes:?}", text.get(..20));
}

#[test]
fn limits_are_reached_and_said() {
    let limits = Limits::default();
    assert_limit(&"a".repeat(1 << 20), &limits);
    assert_limit(&format!("{}a{}", "$(".repeat(10_000), ")".repeat(10_000)), &limits);
    assert_limit(&format!("{}a{}", "( ".repeat(10_000), ")".repeat(10_000)), &limits);
    for slow in ["((a", "@(a|b)", "(a) ", "){", "a|", "((a)) ", "$[", "`a` ", "<<A ", "a&&"] {
        assert_limit(&slow.repeat(100_000 / slow.len()), &limits);
        assert_limit(&format!("cat <<E\nE\n{}", slow.repeat(100_000 / slow.len())), &limits);
    }
    for costly in ["((a", "@(a|b)", "((a)) ", "$[", "a|", "`a` ", "a&&"] {
        assert_limit(&costly.repeat(24_000 / costly.len()), &limits);
    }
    assert_limit(&vec!["a"; 5_000].join("&&"), &limits);
    assert_limit("a $(b $(c $(d)))", &Limits { depth: 3, ..limits });
    assert_limit("a; b; c", &Limits { nodes: 3, ..limits });
    assert_limit(&"echo a b c; ".repeat(1000), &Limits { progress: 5, ..limits });
    let deep = format!("{}a{}", "echo \"$(".repeat(60), ")\"".repeat(60));
    assert!(read(&deep).problems.is_empty(), "{:?}", read(&deep).problems);
    let escaped = read("`a \\`b \\\\\\`c \\\\\\\\\\\\\\`d\\\\\\\\\\\\\\`\\\\\\`\\``");
    assert!(escaped.problems.is_empty(), "{:?}", escaped.problems);
}

#[test]
fn ordinary_long_texts_stay_below_the_limits() {
    for part in ["echo a b c\n", "ls -la src | head -5\n", "x=\"$a $b\"\n", "if a; then b; fi\n"] {
        let text = part.repeat(24 * 1024 / part.len());
        let script = read(&text);
        assert!(script.problems.is_empty(), "{part:?}: {:?}", script.problems.first());
    }
}

/// Every span of a script that its words and statements carry.
fn spans(script: &Script, found: &mut Vec<(usize, usize)>) {
    found.extend(script.problems.iter().map(|problem| (problem.span.start, problem.span.end)));
    for statement in &script.body {
        found.push((statement.span.start, statement.span.end));
        let Command::Simple(simple) = &statement.command else { continue };
        found.push((simple.span.start, simple.span.end));
        let targets = simple.redirections.iter().map(|redirection| &redirection.target);
        for word in simple.words.iter().chain(targets) {
            found.push((word.span.start, word.span.end));
            for piece in &word.pieces {
                if let Piece::Substitution { script, .. } | Piece::Process { script, .. } = piece {
                    spans(script, found);
                }
            }
        }
    }
}

/// Pieces that go wrong together more often than random bytes do.
const SOUP: [&str; 64] = [
    "a",
    "rm x",
    " ",
    " ",
    "\n",
    ";",
    "&",
    "|",
    "&&",
    "||",
    "(",
    ")",
    "{ ",
    " }",
    "$(",
    "${",
    "}",
    "`",
    "\"",
    "'",
    "\\",
    "\\\n",
    "$",
    "$$",
    "#",
    " #",
    "<",
    ">",
    "<<E",
    "<<-'E'",
    "<<<",
    "\nE\n",
    "E",
    "2>&1",
    ">&-",
    "[",
    "]",
    "[[ ",
    " ]]",
    "((",
    "))",
    "$((",
    "if ",
    " then ",
    " fi",
    "for x in ",
    "; do ",
    "; done",
    "case x in ",
    "esac",
    ";;",
    "a) ",
    "!",
    " ! ",
    "time ",
    "x=",
    "x=(",
    "*",
    "~",
    "f() ",
    "$x",
    "<(",
    "=~",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_bytes_are_read(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut found = Vec::new();
        spans(&parse(&text, &Limits::default()), &mut found);
        prop_assert!(found.iter().all(|(start, end)| start <= end && *end <= text.len()));
    }

    #[test]
    fn any_soup_is_read(parts in proptest::collection::vec(proptest::sample::select(&SOUP[..]), 0..24)) {
        let text = parts.concat();
        let script = read(&text);
        let mut found = Vec::new();
        spans(&script, &mut found);
        prop_assert!(found.iter().all(|(start, end)| start <= end && *end <= text.len()));
        prop_assert_eq!(show(&script), show(&read(&text)));
    }

    #[test]
    fn a_quoted_word_is_read_back(text in "\\PC{0,12}|[ -~\n\t\r\u{a0}\u{1b}]{0,12}") {
        let script = read(&format!("echo {}", quote(&text)));
        prop_assert!(script.problems.is_empty(), "{:?}", script.problems);
        let Some(Command::Simple(simple)) = script.body.first().map(|statement| &statement.command) else {
            return Err(TestCaseError::fail("not a simple command"));
        };
        let pieces: Vec<String> = simple.words[1].pieces.iter().map(|piece| match piece {
            Piece::Text { text, .. } => text.clone(),
            other => format!("{other:?}"),
        }).collect();
        prop_assert_eq!(simple.words.len(), 2);
        prop_assert_eq!(pieces.concat(), text);
    }
}

#[test]
fn words_are_quoted_only_where_they_must_be() {
    for (word, expected) in [
        ("a-b/c.d", "a-b/c.d"),
        ("", "''"),
        ("a b", "'a b'"),
        ("it's", "'it'\\''s'"),
        ("~x", "'~x'"),
        ("x~", "x~"),
        ("#a", "'#a'"),
        ("==", "'=='"),
        ("$x*", "'$x*'"),
        ("a\u{1b}b", "$'a\\033b'"),
    ] {
        assert_eq!(quote(word), expected);
    }
}
