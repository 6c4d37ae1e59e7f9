//! Commands as data, so that the second reading needs no shell: what stands before the words, the words, what
//! stands behind them; and many of them made from one.

/// How the words are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Double,
    Backslash,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typed {
    pub(crate) assignments: Vec<(&'static str, &'static str)>,
    pub(crate) wrapper: &'static [&'static str],
    pub(crate) folder: &'static str,
    pub(crate) argv: Vec<String>,
    /// One more word, typed as it is here, for the shell to replace.
    pub(crate) glob: Option<&'static str>,
    pub(crate) redirection: Option<&'static str>,
    pub(crate) style: Style,
}

/// Commands joined by `&&`.
pub(crate) type Line = Vec<Typed>;

impl Typed {
    pub(crate) fn new(argv: Vec<String>) -> Self {
        Self {
            assignments: vec![],
            wrapper: &[],
            folder: "",
            argv,
            glob: None,
            redirection: None,
            style: Style::Plain,
        }
    }

    /// The words of the command alone, spelled as it is typed.
    pub(crate) fn bare(&self) -> String {
        self.spelled(self.style)
    }

    /// The same with quotes only where they are needed.
    pub(crate) fn canonical(&self) -> String {
        self.spelled(Style::Plain)
    }

    /// The same with double quotes only where some are needed.
    pub(crate) fn doubled(&self) -> String {
        let spell_one = |word: &String| {
            if spell(word, Style::Plain) == *word { word.clone() } else { spell(word, Style::Double) }
        };
        self.argv.iter().map(spell_one).chain(self.glob.map(str::to_owned)).collect::<Vec<_>>().join(" ")
    }

    fn spelled(&self, style: Style) -> String {
        let mut words = self.argv.clone();
        if let Some(first) = words.first_mut() {
            first.insert_str(0, self.folder);
        }
        let mut words: Vec<String> = words.iter().map(|word| spell(word, style)).collect();
        words.extend(self.glob.map(str::to_owned));
        words.join(" ")
    }

    /// Without what stands around the words.
    pub(crate) fn stripped(&self) -> Self {
        Self { assignments: vec![], wrapper: &[], folder: "", redirection: None, ..self.clone() }
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.assignments {
            text.push_str(&format!("{name}={value} "));
        }
        match self.wrapper {
            ["bash", "-c"] => text.push_str(&format!("bash -c {}", spell(&self.bare(), Style::Plain))),
            [] => text.push_str(&self.bare()),
            words => text.push_str(&format!("{} {}", words.join(" "), self.bare())),
        }
        if let Some(redirection) = self.redirection {
            text.push_str(&format!(" {redirection}"));
        }
        text
    }
}

/// The text of a line.
pub(crate) fn text(line: &Line) -> String {
    line.iter().map(Typed::text).collect::<Vec<_>>().join(" && ")
}

/// A word as it is typed.
pub(crate) fn spell(word: &str, style: Style) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-^".contains(c);
    let is_plain = !word.is_empty() && word.chars().all(plain) && !word.starts_with('=');
    match style {
        Style::Double if !word.contains(['"', '$', '`', '\\', '!']) => format!("\"{word}\""),
        Style::Backslash if !word.is_empty() && !word.contains('\n') => {
            word.chars().flat_map(|c| if plain(c) { vec![c] } else { vec!['\\', c] }).collect()
        }
        _ if is_plain => word.to_owned(),
        _ => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// What is put around the words, with what it is called in the agents' documentation.
const WRAPPERS: &[&[&str]] = &[
    &["timeout", "5"],
    &["nice"],
    &["nice", "-n", "5"],
    &["time"],
    &["nohup"],
    &["stdbuf", "-oL"],
    &["command"],
    &["env"],
    &["exec"],
    &["sudo"],
    &["xargs"],
    &["bash", "-c"],
];

const ASSIGNED: &[(&str, &str)] =
    &[("NODE_ENV", "test"), ("LANG", "C"), ("FOO", "1"), ("LD_PRELOAD", "x.so"), ("SOME_THING", "1")];

const MORE: &[&str] = &[
    "x",
    "main",
    "origin",
    "--force",
    "--all",
    "-n",
    "a b",
    "it's",
    "*.rs",
    "what?",
    "$HOME",
    "",
    "http://x/?a=b",
    "two",
    "three",
    "gone",
    "all",
    "~/x",
];

const REDIRECTIONS: &[&str] =
    &["> new.txt", ">> new.txt", "2> err.txt", "> /srv/new.txt", "2>&1", "< in.txt"];

/// The lines made from one command: itself, its near misses, what may stand around it.
pub(crate) fn around(argv: &[String]) -> Vec<Line> {
    let one = Typed::new(argv.to_vec());
    let mut made: Vec<Typed> = vec![one.clone()];
    made.extend(cut_and_changed(argv).into_iter().map(Typed::new));
    for more in MORE {
        made.push(Typed::new([argv, &[(*more).to_owned()]].concat()));
        made.push(Typed::new([argv, &["-x".to_owned(), (*more).to_owned()]].concat()));
    }
    for style in [Style::Double, Style::Backslash] {
        made.push(Typed { style, ..one.clone() });
        made.push(Typed { style, argv: [argv, &["a b".to_owned()]].concat(), ..one.clone() });
    }
    made.extend(["*.rs", "src/*"].map(|glob| Typed { glob: Some(glob), ..one.clone() }));
    // A word that the shell leaves as it is, and that gsh quotes.
    let fewer = &argv[..argv.len().saturating_sub(1).max(1)];
    made.push(Typed { glob: Some("http://x/?a=b"), ..Typed::new(fewer.to_vec()) });
    made.extend(WRAPPERS.iter().map(|wrapper| Typed { wrapper, ..one.clone() }));
    made.extend(ASSIGNED.iter().map(|each| Typed { assignments: vec![*each], ..one.clone() }));
    made.push(Typed { assignments: vec![ASSIGNED[0], ASSIGNED[3]], ..one.clone() });
    made.push(Typed { assignments: vec![ASSIGNED[1]], wrapper: WRAPPERS[0], ..one.clone() });
    made.extend(REDIRECTIONS.iter().map(|each| Typed { redirection: Some(each), ..one.clone() }));
    if !argv.first().is_some_and(|name| name.contains('/')) {
        made.extend(["/usr/bin/", "./", "/opt/x/"].map(|folder| Typed { folder, ..one.clone() }));
    }
    let mut lines: Vec<Line> = made.iter().map(|each| vec![each.clone()]).collect();
    for other in [
        &["unlisted", "x"][..],
        &["ls", "-la"],
        &["rm", "-rf", "build"],
        &["git", "status"],
        &["make", "all"],
    ] {
        let other = Typed::new(other.iter().map(|word| (*word).to_owned()).collect());
        lines.push(vec![one.clone(), other.clone()]);
        lines.push(vec![other, one.clone()]);
    }
    lines.extend(made.iter().skip(1).take(6).map(|each| vec![one.clone(), each.clone()]));
    lines
}

/// Words left out, grown, in another case, swapped, doubled, put between.
fn cut_and_changed(argv: &[String]) -> Vec<Vec<String>> {
    let mut made: Vec<Vec<String>> = (1..argv.len()).map(|end| argv[..end].to_vec()).collect();
    let changed = |at: usize, change: &dyn Fn(&str) -> String| {
        let mut words = argv.to_vec();
        if let Some(word) = words.get_mut(at) {
            *word = change(word);
        }
        words
    };
    for at in 0..argv.len() {
        made.push(changed(at, &|word| format!("{word}x")));
        made.push(changed(at, &|word| format!("{word}-x")));
        made.push(changed(at, &|word| format!("x{word}")));
        made.push(changed(at, &str::to_uppercase));
        made.push(changed(at, &|_| "other".to_owned()));
        let (before, after) = argv.split_at(at + 1);
        made.push([before, &["-C".to_owned(), "src".to_owned()], after].concat());
        made.push([before, &["--verbose".to_owned()], after].concat());
    }
    if argv.len() > 2 {
        let mut swapped = argv.to_vec();
        swapped.swap(argv.len() - 2, argv.len() - 1);
        made.push(swapped);
    }
    made.push([argv, argv].concat());
    made.retain(|words| !words.is_empty());
    made
}

/// Paths around one: itself, what is in it, beside it, of nearly its name, and the same name elsewhere.
pub(crate) fn paths_around(path: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let folder = path.strip_suffix(name).unwrap_or_default();
    let mut made =
        vec![path.to_owned(), format!("{path}x"), format!("{folder}x{name}"), format!("{folder}other")];
    made.extend(["a", "a/b", "a/b/c.md", ".hidden"].map(|below| format!("{path}/{below}")));
    made.extend(
        [name.to_uppercase(), format!("{name}.bak"), format!("deep/{name}"), format!("deep/er/{name}")]
            .map(|name| format!("{folder}{name}")),
    );
    let places = [
        "/home/dev/proj",
        "/home/dev/proj/src",
        "/home/dev/proj/src/a",
        "/home/dev/proj/src/a/b/generated",
        "/home/dev/proj/docs",
        "/home/dev/proj/private",
        "/home/dev/proj/x/private",
        "/home/dev",
        "/home/dev/notes",
        "/srv",
        "/srv/data",
        "/etc",
        "/opt/x",
        "/tmp",
        "/home/other",
        "/home/dev/proj/build",
    ];
    for place in places {
        made.extend([name, "plain.txt", "b.rs"].map(|name| format!("{place}/{name}")));
    }
    made.sort();
    made.dedup();
    made
}

/// Names around one.
pub(crate) fn names_around(name: &str) -> Vec<String> {
    let mut made = vec![name.to_owned()];
    let words =
        ["mcp__files", "mcp__github", "mcp__secrets", "mcp__other", "mcp__file", "mcp__githubs", "skill:x"];
    let tools =
        ["", "__get_issue", "__get_issues", "__delete_file", "__delete", "__read", "__list", "__x__y"];
    made.extend(words.iter().flat_map(|word| tools.iter().map(move |tool| format!("{word}{tool}"))));
    made.extend([format!("{name}x"), format!("x{name}"), name.to_uppercase(), format!("{name}__x")]);
    made.extend(["WebFetch", "webfetch", "Task"].map(str::to_owned));
    made.sort();
    made.dedup();
    made
}
