//! The larger constructs of the grammar.

use super::{Maker, Manner};

impl Maker {
    /// A loop of any kind.
    pub(super) fn looped(&mut self, depth: usize) -> String {
        let (name, body) = (self.name(), self.body(depth));
        let nasty = self.manner == Manner::Nasty;
        // Everyday loops over what is only read then mostly print it.
        let program = if nasty || self.chance(50) { "ls" } else { "echo" };
        let user = format!("{program} {} \"${name}\"; ", self.marker());
        let choice = self.numbers.below(if nasty { 13 } else { 6 });
        self.row(match choice {
            3 | 4 | 8 | 12 => "while",
            7 => "until",
            10 => "select",
            _ => "for",
        });
        match choice {
            0 => format!("for {name} in a.txt b.txt; do {user}{body}done"),
            1 => format!("for {name} in *.txt; do {user}{body}done"),
            2 => format!("for {name} in $({}); do {user}{body}done", self.substituted(depth.min(1))),
            3 => format!("cat a.txt | while read -r {name}; do {user}{body}done"),
            4 => format!("while read -r {name}; do {user}{body}done < b.txt"),
            5 => format!("for {name} in 1 2; do {body}done"),
            6 => format!("for (({name}=0; {name}<2; {name}++)); do {user}{body}done"),
            7 => format!("until {body} true; do ls; done"),
            8 => format!("while {body} false; do ls; done"),
            9 => format!("set -- a 'b c'; for {name}; do {user}{body}done"),
            10 => format!("select {name} in a b; do {user}{body}break; done <<< 1"),
            11 => format!("for {name} in 'a b' -x \"$HOME\"; do ls {} ${name}; done", self.marker()),
            _ => format!(
                "while IFS= read -r {name} || [ -n \"${name}\" ]; do {user}done < <(printf 'a\\nb c')"
            ),
        }
    }

    /// `case`.
    pub(super) fn case(&mut self, depth: usize) -> String {
        self.row("case");
        let (first, second) = (self.body(depth), self.body(depth));
        if self.nasty(50) {
            let text = self.flat();
            return format!("case $({text}) in (a|b) {first};& c) {second};;& *) {first}esac");
        }
        let end = |text: &str| text.trim_end().trim_end_matches(';').to_owned();
        format!("case \"$HOME\" in /root) {};; /home/*)\n{}\n;; *) ls none;; esac", end(&first), end(&second))
    }

    /// A group or a subshell.
    pub(super) fn grouped(&mut self, depth: usize) -> String {
        let body = self.body(depth);
        let choice = self.numbers.below(if self.manner == Manner::Nasty { 4 } else { 2 });
        self.row(if choice == 1 { "group" } else { "subshell" });
        match choice {
            0 => format!("( {body})"),
            1 => format!("{{ {body}}}"),
            2 => format!("({body})"),
            _ => format!("( {{ {body}}} )"),
        }
    }

    /// A command with a here-document; ends in a newline.
    pub(super) fn here_document(&mut self, depth: usize) -> String {
        self.row("here-document");
        let marker = self.marker();
        let tail = match self.numbers.below(6) {
            0 => " | sort".to_owned(),
            1 => format!(" && ls {}", self.marker()),
            2 => format!(" > {}", self.marker()),
            3 => format!("; rm {}", self.marker()),
            _ => String::new(),
        };
        let inner = self.substituted(depth.min(1));
        let flat = self.flat();
        match self.numbers.below(if self.manner == Manner::Nasty { 14 } else { 6 }) {
            0 => format!("cat <<EOF{tail}\n{marker} $HOME 'x\nEOF\n"),
            1 => format!("cat <<'EOF' {marker}{tail}\n$(ls no) `ls no` \\\nEOF\n"),
            2 => format!("cat <<-EOF{tail}\n\t{marker}\n\tEOF\n"),
            3 => format!("cat <<EOF{tail}\nsaid \"$({inner})\" and $((1+1))\nEOF\n"),
            4 => format!("bash <<'EOF'{tail}\n{flat}\nEOF\n"),
            5 => format!("git commit -m \"$(cat <<'EOF'\n{marker} it's (fine)\nEOF\n)\"{tail}\n"),
            6 => format!("sh <<EOF{tail}\n{flat} $HOME\nEOF\n"),
            7 => format!("cat <<A <<B{tail}\na\nA\n`{flat}`\nB\n"),
            8 => format!("cat <<EOF{tail}\n EOF\nEOF \n\\$(ls no) ${{unset:-$({flat})}}\nEOF\n"),
            9 => format!("<<EOF cat{tail}\n{marker}\\\nEOF\n$({flat})\nEOF\n"),
            10 => format!("cat <<\"E F\"{tail}\n$(ls no)\nE F\n{flat}\n"),
            11 => format!("bash -s {marker} <<'EOF'{tail}\n{flat} \"$1\"\nEOF\n"),
            12 => format!("cat <<EOF | sh{tail}\n{flat}\nEOF\n"),
            _ => format!("cat <<''{tail}\n$(ls no)\n\n{flat}\n"),
        }
    }

    /// Another directory for what follows.
    pub(super) fn moved(&mut self, depth: usize) -> String {
        self.row("directory");
        let next = self.plain(depth);
        let user = self.flat();
        match self.numbers.below(if self.manner == Manner::Nasty { 11 } else { 4 }) {
            0 => format!("cd src && {next}"),
            1 => format!("(cd docs; {user}) && {next}"),
            2 => format!("cd /tmp; {user}"),
            3 => format!("cd .. && {user} && {next}"),
            4 => format!("cd none || {user}; cd - && {next}"),
            5 => format!("pushd src; {user}; popd; {next}"),
            6 => format!("cd src | {user}; {next}"),
            7 => format!("cd \"$({user})\" && {next}"),
            8 => format!("cd; {user}; cd ~-; {next}"),
            9 => format!("cd src & {user}; CDPATH=/tmp cd src; {user}"),
            _ => format!("cd -P ./src/..//docs && {user}; PWD=/tmp; {user} \"$PWD\""),
        }
    }

    /// A variable, and a use of it.
    pub(super) fn assigned(&mut self, depth: usize) -> String {
        self.row("assignment");
        let name = self.name();
        let marker = self.marker();
        let user = format!("ls ${name}; stat {marker} \"${{{name}}}\"");
        let inner = self.substituted(depth.min(1));
        match self.numbers.below(if self.manner == Manner::Nasty { 20 } else { 6 }) {
            0 => format!("{name}={marker}; {user}"),
            1 => format!("{name}=$({inner}); {user}"),
            2 => format!("A=1 {name}=2 ls {marker}"),
            3 => format!("export {name}=\"{marker} x\"; {user}"),
            4 => format!("{name}=\"$({inner})\" && {user}"),
            5 => format!("{name}=(a 'b c' *.txt); ls {marker} \"${{{name}[@]}}\""),
            6 => format!("{name}='a b  *.txt'; {user}"),
            7 => format!("{name}=a; {name}+=b; {user}; unset {name}; {user}"),
            8 => format!("{name}=ls; ${name} {marker}"),
            9 => format!("{name}='ls {marker}'; ${name}"),
            10 => format!("{name}=x; ({name}=y); {user}; {name}=z | cat; {user}"),
            11 => format!("{name}=x ls {marker} ${name}; {user}"),
            12 => format!("true && {name}=x || {name}=y; {user}"),
            13 => format!("{name}=x; if false; then {name}=y; fi; {user}"),
            14 => format!("IFS=:; {name}=a:b; {user}"),
            15 => format!("declare -r {name}={marker}; {name}=b; {user}"),
            16 => format!("read -r {name} rest < a.txt; {user}"),
            17 => format!("printf -v {name} '%s-x' {marker}; {user}"),
            18 => format!("{name}=~/x:~; {user}; local {name}=q; {user}"),
            _ => format!("ls ${{{name}:={marker}}}; {user}"),
        }
    }

    /// A function, and calls of it.
    pub(super) fn function(&mut self, depth: usize) -> String {
        self.row("function");
        let name = format!("f{}", self.name());
        let (marker, body) = (self.marker(), self.body(depth));
        let shadowed = self.flat();
        match self.numbers.below(if self.manner == Manner::Nasty { 11 } else { 3 }) {
            0 => format!("{name}() {{ ls \"$1\"; {body}}}; {name} {marker}"),
            1 => format!("function {name} {{ ls \"$@\"; }}\n{name} {marker} b"),
            2 => format!("{name}() {{\n{body}}}\n{name}"),
            3 => format!("ls() {{ command ls {marker}; {body}}}; ls x; {shadowed}"),
            4 => format!("{name}() {{ {body}}}; true && {name}; unset -f {name}; {name}"),
            5 => format!("{name}() ( cd src; {body}); {name} > {marker}; {shadowed}"),
            6 => format!("{name}() {{ {body}}} > {marker}; {name} | {name}"),
            7 => format!("rm() {{ ls {marker}; }}; export -f rm; bash -c 'rm x'; env rm y"),
            8 => format!("{name}() {{ shift; ls {marker} \"$@\" $#; }}; {name} a b c"),
            9 => format!(
                "if true; then {name}() {{ ls {marker}; }}; else {name}() {{ rm {marker}; }}; fi; {name}"
            ),
            _ => format!("{name}() {{ local x={marker}; cd src; v=$1; }}; {name} q; ls $v $x; {shadowed}"),
        }
    }

    fn quoted(text: &str) -> String {
        format!("'{}'", text.replace('\'', "'\\''"))
    }

    /// A text that a shell inside the shell reads.
    pub(super) fn inner_shell(&mut self, depth: usize) -> String {
        self.row("inner shell");
        let text = self.body(depth);
        let text = Self::quoted(text.trim_end_matches(' '));
        let flat = self.flat();
        match self.numbers.below(if self.manner == Manner::Nasty { 24 } else { 4 }) {
            0 => format!("bash -c {text}"),
            1 => format!("sh -c '{flat} \"$1\"' name {}", self.marker()),
            2 => format!("echo '{flat}' | sh"),
            3 => format!("bash -lc {text}"),
            4 => format!("eval {text}"),
            5 => format!("eval \"{flat}\" '; {flat}'"),
            6 => format!("trap {text} EXIT"),
            7 => format!(". <(echo '{flat}')"),
            8 => format!("source /dev/stdin <<< '{flat}'"),
            9 => format!("bash <<< {text}"),
            10 => format!("printf '%s\\n' '{flat}' '{flat}' | bash"),
            11 => format!("bash -c \"{flat} $HOME\" && sh -c \"\\$(echo {flat})\""),
            12 => format!("x='{flat}'; eval \"$x\"; bash -c \"$x\""),
            13 => format!("bash -euo pipefail -c {text}"),
            14 => format!("bash <(echo '{flat}')"),
            15 => format!("sh -ec '{flat}; $0 {}' ls", self.marker()),
            16 => format!("eval 'eval \"{flat}\"'"),
            17 => format!("eval eval {flat} \\; {flat}"),
            18 => format!("bash -c 'eval \"$@\"' _ {flat}"),
            19 => format!("trap '{flat}' ERR; false; trap - ERR; trap '{flat}' DEBUG; true"),
            20 => format!("cat <(echo '{flat}') | bash -s"),
            21 => format!("bash -c '\"$@\"' _ {flat}"),
            22 => format!("exec 3< <(echo '{flat}'); bash <&3; bash /dev/fd/3"),
            _ => format!("echo {flat} > s.sh; bash s.sh; . ./s.sh"),
        }
    }

    /// Code where nobody looks for it.
    pub(super) fn hidden(&mut self, depth: usize) -> String {
        self.row("hidden command");
        let text = self.flat();
        let name = self.name();
        let next = self.plain(depth.min(1));
        match self.numbers.below(28) {
            0 => format!("{name}[$({text})]=1; {next}"),
            1 => format!("[[ -v '{name}[$({text})]' ]]; {next}"),
            2 => format!("test -v '{name}[$({text})]'; {next}"),
            3 => format!("printf -v '{name}[$({text})]' x; {next}"),
            4 => format!("read '{name}[$({text})]' <<< x; {next}"),
            5 => format!("{name}='a[$({text})]'; (( {name} )); echo $(({name}))"),
            6 => format!("{name}='a[$({text})]'; [[ {name} -eq 0 ]]; let {name}"),
            7 => format!("{name}='$({text})'; : \"${{{name}@P}}\""),
            8 => format!("PS4='$({text}) '; set -x; {next}"),
            9 => format!("declare -n {name}='a[$({text})]'; : ${name}"),
            10 => format!("mapfile -C '{text}' -c 1 {name} < a.txt; {next}"),
            11 => format!("compgen -C '{text}' a; compgen -W '$({text})'; {next}"),
            12 => format!("shopt -s expand_aliases; alias ls='{text};'\nls x; {next}"),
            13 => format!("command_not_found_handle() {{ {text}; }}; nothing-such; {next}"),
            14 => format!("hash -p /usr/bin/rm ls; ls {}", self.marker()),
            15 => format!("unset '{name}[$({text})]'; {next}"),
            16 => format!("{name}=$({text}) : ; {next}"),
            17 => format!("echo \"${{{name}:-'$({text})'}}\" ${{HOME#$({text})}} ${{HOME/$({text})/x}}"),
            18 => format!("echo $[$({text})] $(( '$({text})' )) ${{HOME:$({text}):1}}"),
            19 => format!("{name}=([$({text})]=1 b=$({text})); declare -A q=([$({text})]=1)"),
            20 => format!("[[ a =~ $({text}) || x == $({text}) ]]; case $({text}) in $({text})) ;; esac"),
            21 => format!("{name}=text; {name}=a[\\$\\({text}\\)]; declare -i w; w=${name}"),
            22 => format!("BASH_ENV=<(echo '{text}') bash -c 'ls {}'", self.marker()),
            23 => format!("PATH=/tmp:$PATH; {next}; PATH= {text}"),
            24 => format!("coproc {text}; wait; coproc N {{ {text}; }}; wait"),
            25 => format!("set -- {text}; \"$@\"; $1 {}", self.marker()),
            26 => format!("PROMPT_COMMAND='{text}' bash -ic 'ls {}' 2>/dev/null; {next}", self.marker()),
            _ => format!("exec > {name}; {text}; enable -n echo; {next}"),
        }
    }

    /// An option of the shell, and what it changes.
    pub(super) fn shell_state(&mut self, depth: usize) -> String {
        self.row("shell state");
        let next = self.plain(depth);
        let marker = self.marker();
        let option = *self.numbers.pick(&[
            "set -e",
            "set -f",
            "shopt -s nullglob",
            "shopt -s dotglob",
            "set -o pipefail",
            "set -u",
            "shopt -s extglob",
            "shopt -s globstar",
            "set -n",
            "set +B",
            "shopt -s lastpipe",
            "set -o posix",
            "set -k",
            "shopt -s failglob",
            "shopt -s nocaseglob",
            "set -a",
            "exec 2>/dev/null",
            "umask 077",
            "IFS=,",
            "set -C",
            "exit",
            "return",
            "HOME=/tmp",
        ]);
        format!("{option}\nls {marker} *.txt none* ~ a,b; {next}")
    }

    /// Spellings that parsers stumble over.
    pub(super) fn odd(&mut self, depth: usize) -> String {
        self.row("odd spelling");
        let (first, second, third) = (self.flat(), self.flat(), self.flat());
        let next = self.plain(depth);
        match self.numbers.below(26) {
            0 => format!("echo hi\n\\{first}"),
            1 => format!("echo `{first}` `{second}`"),
            2 => format!("{first} 2>/dev/null -l; >o {second} -a"),
            3 => format!("echo \"$ $({first})\" $\"x\"$({second})"),
            4 => format!("echo a\\ #b; {first} # no; {second}"),
            5 => format!("time {{ {first}; }}; ! time {second}; time -p {third}"),
            6 => format!("! ! {first}"),
            7 => format!("{first};{second}&{third}"),
            8 => format!("{first}&&{second}||{third}|cat"),
            9 => format!("if {first};then {second};fi>o;{third}"),
            10 => format!("((1)) && {first}; ( (({second}) ); {third} )"),
            11 => format!("{{ {first}; }};{{ {second};}}|cat;({third})"),
            12 => format!("a=(1 2\n3 # x\n4); {first} ${{a[1]}} \"${{a[*]}}\" ${{#a[@]}}"),
            13 => format!("for i in a b; {{ {first} $i; }}; for i in 1\ndo {second}\ndone"),
            14 => format!("case x in x) {first} ;; esac; case y in (y) {second};& *) {third}; esac"),
            15 => format!("echo $(case x in x) {first};; esac) $( ( {second} ) ) $(({third}) )"),
            16 => format!("[[ x = x ]] && {first}; [[ ! x ]] || {second}; [ 1 -lt 2 -a x ] && {third}"),
            17 => format!("\\\n{first} \\\n x; {second}\\\n y; l\\\ns {}", self.marker()),
            18 => format!("echo ${{unset:-`{first}`}} ${{unset:-<({second})}}; {third}"),
            19 => format!("{first} {{a,$({second})}}.x{{1..2}}; {third} \"{{a,b}}\" {{a,'b c'}}"),
            20 => format!("x=1 y=$({first}) {second}; z=\"a b\"c'd e' ls {} $z", self.marker()),
            21 => format!("function g() {{ {first}; }}; g; h () ( {second} ); h; k() {third}; k"),
            22 => format!("echo $'a\\'b' $({first}) '\\'; {second} \"\\\\\" \"\\`\" ; {third}"),
            23 => format!("{first} >&2 2>&1 >&- <&-; {second} 1>&2-; {third}"),
            24 => format!("until {first}; do {second}; break; done; while {third}; do break; done"),
            _ => format!("{first} | {next} | {{ {second}; }} |& ({third})"),
        }
    }
}
