//! Constructs inside of constructs, on purpose: a chain of containers, each drawn from the same table, with
//! small commands in the innermost. So every construct is met inside of every other.

use std::collections::BTreeSet;

use crate::generate::{Numbers, Sample};

/// What can hold commands, with a script for it. `BODY` stands for the commands, each ended by a newline,
/// `QUOTED` for the same as one word and `TICKED` for the same as it must stand in backticks. `MARK` is a
/// word of the script's own, `NAME` a name of this container's own.
pub(crate) const CONTAINERS: &[(&str, &str)] = &[
    ("list", "true && {\nBODY} || ls MARK\n"),
    ("list", "ls MARK &&\nBODY"),
    ("pipeline", "{\nBODY} | sort\n"),
    ("pipeline", "ls MARK | while read -r l; do\nBODYdone\n"),
    ("negation", "! {\nBODY}\n"),
    ("time", "time {\nBODY}\n"),
    ("group", "{\nBODY}\n"),
    ("subshell", "(\nBODY)\n"),
    ("if", "if ls MARK; then\nBODYfi\n"),
    ("if", "if\nBODYthen ls MARK; elif true; then ls MARK; else\nls MARK; fi\n"),
    ("if", "if false; then :; else\nBODYfi\n"),
    ("for", "for NAME in a.txt 'b c'; do\nBODYdone\n"),
    ("for", "for ((NAME=0; NAME<1; NAME++)); do\nBODYdone\n"),
    ("while", "while\nBODYfalse; do ls MARK; done\n"),
    ("while", "while read -r NAME; do\nBODYdone < b.txt\n"),
    ("until", "until\nBODYtrue; do ls MARK; done\n"),
    ("case", "case $HOME in\n/root) ls MARK ;;\n/home/*)\nBODY;;\nesac\n"),
    ("select", "select NAME in a b; do\nBODYbreak; done <<< 1\n"),
    ("function", "NAME() {\nBODY}\nNAME MARK\n"),
    ("function", "function NAME {\nBODY}\nNAME MARK | NAME\n"),
    ("coproc", "coproc {\nBODY}\nwait\n"),
    ("substitution", "ls MARK $(\nBODY)\n"),
    ("substitution", "stat \"MARK $(\nBODY)\"\n"),
    ("substitution in an assignment", "NAME=$(\nBODY)\nls \"$NAME\"\n"),
    ("substitution in a redirection", "ls MARK > \"$(\nBODY)MARK\"\n"),
    ("substitution in a redirection", "cat <<< \"$(\nBODY)\"\n"),
    ("substitution in a here-document", "cat <<NAME\n$(\nBODY) x\nNAME\n"),
    ("substitution in a test", "[[ -n $(\nBODY) ]] && ls MARK\n"),
    ("substitution in arithmetic", "ls $(( 1 + $(\nBODYecho 1) ))\n"),
    ("substitution in a case", "case $(\nBODY) in MARK) ls MARK ;; esac\n"),
    ("substitution in a fallback", "ls \"${unset:-$(\nBODY)}\"\n"),
    ("substitution in a subscript", "NAME[$(\nBODYecho 1)]=1\n"),
    ("backticks", "ls MARK `TICKED`\n"),
    ("process substitution", "cat <(\nBODY)\n"),
    ("process substitution", "cat a.txt > >(\nBODY)\n"),
    ("inner shell", "bash -c QUOTED\n"),
    ("inner shell", "sh <<'NAME'\nBODYNAME\n"),
    ("inner shell", "echo QUOTED | bash\n"),
    ("inner shell", "trap QUOTED EXIT\n"),
    ("inner shell", ". <(echo QUOTED)\n"),
    ("eval", "eval QUOTED\n"),
    ("redirection", "{\nBODY} > MARK 2>&1\n"),
    ("redirection", "{\nBODY} 2>> MARK < a.txt\n"),
    ("background", "{\nBODY} &\nwait\n"),
    ("directory", "cd src && {\nBODY}\n"),
    ("directory", "(cd docs\nBODY)\n"),
    ("wrapper", "timeout 5 bash -c QUOTED\n"),
    ("wrapper", "find a.txt -exec sh -c QUOTED \\;\n"),
    ("environment", "A=1 PATH=/usr/bin bash -c QUOTED\n"),
    ("environment", "LC_ALL=C sh -c QUOTED\n"),
    ("hidden command", "NAME='a[$(\n'QUOTED'\n)]'; ((NAME))\n"),
    ("hidden command", "PS4='$('QUOTED')'; set -x\nls MARK\nset +x\n"),
];

/// What holds no commands of its own, or is judged by what is around it.
pub(crate) const CONTENTS: &[(&str, &str)] = &[
    ("simple", "ls MARK\n"),
    ("simple", "rm MARK\n"),
    ("glob", "ls MARK *.txt src/?ib.rs\n"),
    ("braces", "ls {MARK,b}{1..2}\n"),
    ("tilde", "stat ~/MARK ~\n"),
    ("quotes", "ls $'MARK\\x41' 'a  b'\"c\\\"$\"\\ d\n"),
    ("line continuation", "ls \\\n  MARK \\\n  b\n"),
    ("known variable", "NAME=MARK\nls \"$NAME\" $HOME\n"),
    ("descriptors", "ls MARK 2>&1 >MARK | cat; ls MARK 2>/dev/null >&2\n"),
    ("descriptors", "ls MARK 3>MARK 1>&3 <&-; cat <&0 <a.txt\n"),
    ("named descriptor", "ls MARK {NAME}>MARK\n"),
    ("files by redirection", "ls > MARK; ls >> MARK; ls 2> MARK; cat < a.txt; : >| MARK\n"),
    ("files by redirection", "ls &> MARK; ls &>> MARK; cat 3<> MARK; ls <<< MARK\n"),
    ("here-document", "cat <<NAME MARK\n$HOME `date` it's \"\nNAME\n"),
    ("here-document", "cat <<-'NAME' | wc -l\n\t$(ls no)\n\tNAME\n"),
    ("assignment", "NAME=a\nNAME+=b\nread -r NAME rest < b.txt\nls MARK \"$NAME\"\n"),
    ("assignment", "export NAME=MARK\nunset NAME\nls MARK ${NAME:-x}\n"),
    ("assignment", "NAME[1]=MARK; for NAME; do ls MARK \"$NAME\"; done\n"),
    ("indirect", "NAME=HOME\nls MARK ${!NAME} \"${!NAME}\"\n"),
    ("edit", "ls ${HOME##*/} ${HOME/e/MARK} ${#HOME} \"${HOME%/*}\" ${HOME:0:4}\n"),
    ("array", "NAME=(MARK 'b c')\nls \"${NAME[@]}\" ${#NAME[@]}\n"),
    ("directory left", "cd src; ls MARK; cd ..; ls MARK\n"),
    ("directory left", "git -C src status; env -C docs ls MARK; pushd src; popd\n"),
    ("earlier effect", "touch MARK; ls *; rm -f MARK; cat MARK*\n"),
    ("earlier effect", "ls > new.txt; stat *.txt; mkdir -p MARK && cd MARK && ls\n"),
    (
        "bounded operand",
        "for NAME in $(git ls-files '*.rs'); do wc -l \"$NAME\"; done; ls MARK $(date +%s)\n",
    ),
    ("bounded operand", "for NAME in a.txt b.txt; do ls MARK \"$NAME\"; done; stat $(pwd) $#\n"),
    ("background job", "ls MARK & wait; nohup ls MARK\n"),
    ("data", "git commit -m 'rm -rf / $(ls no) `ls no`'; echo 'curl x | sh' # rm -rf ~ \"\n"),
    ("data", "grep -n 'rm -rf /' a.txt; printf '%s\\n' '{\"a\": \"$(ls no)\"}' > MARK\n"),
    ("test", "[[ -f a.txt && MARK == m* ]] && [ -d src ] && ((1 < 2))\n"),
    ("lone redirection", "> MARK\n2>> MARK < a.txt\n"),
    ("unset variable", "ls MARK $unset \"$unset\" x$unset\n"),
    ("positional", "set -- MARK 'b c'; ls \"$@\" $# $1; shift; ls \"$1\"; for NAME; do ls $NAME; done\n"),
    ("escapes", "ls MARK\\ b \\;\\&\\* \\#x\n"),
    ("odd word", "ls MARK = {} } ! a=b a#b -- '' % @\n"),
    ("xargs", "ls src | xargs -n1 stat MARK\n"),
];

/// How many containers stand in each other, and how many small commands in the innermost. Few of what is
/// deep is understood, so most scripts are not.
const SHAPES: [(usize, usize); 3] = [(2, 1), (3, 2), (6, 3)];

/// A script of the table's parts.
pub(crate) fn nested(numbers: &mut Numbers) -> Sample {
    let mut made = Made { markers: 0, names: 0 };
    let (mut rows, mut pairs, mut inside) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut text = String::new();
    let (depth, width) = *numbers.pick(&SHAPES);
    for _ in 0..width {
        let (row, template) = pick(numbers, CONTENTS);
        text.push_str(&made.filled(template, ""));
        inside.insert(row);
    }
    for _ in 0..depth {
        let (row, template) = pick(numbers, CONTAINERS);
        text = made.filled(template, &text);
        pairs.extend(inside.iter().map(|inner| (*inner, row)));
        inside.insert(row);
    }
    rows.append(&mut inside);
    Sample { text, rows, pairs }
}

/// A row, and one of the templates that it has: a row with many is not met more often.
fn pick(
    numbers: &mut Numbers,
    table: &'static [(&'static str, &'static str)],
) -> (&'static str, &'static str) {
    let rows: BTreeSet<&str> = table.iter().map(|(row, _)| *row).collect();
    let rows: Vec<&str> = rows.into_iter().collect();
    let row = *numbers.pick::<&str>(&rows);
    let all: Vec<_> = table.iter().filter(|(of, _)| *of == row).copied().collect();
    *numbers.pick::<(&str, &str)>(&all)
}

/// What was made so far.
struct Made {
    markers: usize,
    names: usize,
}

impl Made {
    /// A template with its parts in place.
    fn filled(&mut self, template: &str, body: &str) -> String {
        self.names += 1;
        let mut text = template.replace("NAME", &format!("n{}", self.names));
        while text.contains("MARK") {
            self.markers += 1;
            text = text.replacen("MARK", &format!("m{}", self.markers), 1);
        }
        let line = body.trim_end_matches('\n');
        let quoted = format!("'{}'", line.replace('\'', "'\\''"));
        let ticked = line.replace('\\', "\\\\").replace('`', "\\`");
        // One of them stands in a template, so that no text of the body can be taken for another.
        text.replace("QUOTED", &quoted).replace("TICKED", &ticked).replace("BODY", body)
    }
}
