//! Changes of a shell's state, the places where they can stand, and what depends on them.

use crate::generate::Numbers;

/// A script in which something changes somewhere, and something depends on it. The marker makes its
/// commands its own.
pub(crate) fn stateful(numbers: &mut Numbers, marker: &str) -> String {
    let (change, second) = (one(numbers, CHANGES), one(numbers, CHANGES));
    let uses = one(numbers, USES).replace("MARK", marker);
    let context = one(numbers, CONTEXTS).replace("\\n", "\n");
    let text = context.replace("USE", &uses).replace("CHANGE", change).replace("SECOND", second);
    format!("{} {text}\n{uses}", one(numbers, STARTS))
}

/// One line of a table.
fn one(numbers: &mut Numbers, table: &'static str) -> &'static str {
    let lines: Vec<&str> = table.lines().collect();
    numbers.pick::<&str>(&lines)
}

const STARTS: &str = r#"v=a; set -- p q;
f() { ls f "$1"; }; v=a;
set -- p;
v='a b'; cd docs;"#;

/// What changes a shell's state.
const CHANGES: &str = r#"v=b
v+=b
read -r v < b.txt
read -r v <<< b
printf -v v b
declare v=b
export v=b
unset v
eval v=b
((v=3))
: $((v=3))
: ${v:=b}
: ${w:=b}${v:-b}
for v in b c; do :; done
mapfile -t v < a.txt
v=(b c)
v[1]=b
cd src
cd ..
cd "$v"
cd none
pushd src
popd
set -- b
set b c
shift
f() { ls b; }
unset -f f
command cd src
builtin cd docs
let v=3
local v=b
v=b true
v=b :
v=b eval 'w=c'
> new.txt
echo x > src/new.rs
true && v=b
v=$(echo b)
v=~
v=*.txt
v='*.txt'
v="$v$v"
readonly v
unset v w
typeset v=b
exit
return
break
continue"#;

/// Where it changes.
const CONTEXTS: &str = r#"CHANGE
CHANGE; SECOND
( CHANGE )
{ CHANGE; }
{ CHANGE; SECOND; } > /dev/null
CHANGE | cat
true | CHANGE
CHANGE 2>/dev/null
CHANGE &
if false; then CHANGE; fi
if true; then CHANGE; else SECOND; fi
if CHANGE; then SECOND; fi
true && CHANGE
false && CHANGE
true || CHANGE
CHANGE && SECOND || USE
while CHANGE; do break; done
for i in 1 2; do USE; CHANGE; done
for i in 1 2; do CHANGE; USE; SECOND; done
for i in 1 2; do { USE; CHANGE; } > /dev/null; done
i=0; while ((i++ < 2)); do USE; CHANGE; done
until USE; CHANGE; do break; done
g() { CHANGE; }; g
g() { CHANGE; USE; }; g x; SECOND
g() { CHANGE; }
g() { USE; }; CHANGE; g y
g() { local v=c; CHANGE; USE; }; g
g() ( CHANGE ); g
g() { CHANGE; }; g | cat
g() { CHANGE; }; h() { g; USE; }; h; SECOND
: $(CHANGE; USE)
: "`CHANGE; USE`"
cat <(CHANGE; USE)
case a in a) CHANGE;; b) SECOND;; esac
case $v in b) CHANGE;& *) SECOND;; esac
eval 'CHANGE; USE'
eval 'CHANGE' '; SECOND'
bash -c 'CHANGE'
! CHANGE
time CHANGE
cat <<EOF\n$(CHANGE; USE)\nEOF\nSECOND
(CHANGE; USE); SECOND
CHANGE; (SECOND; USE)
[[ -n $(CHANGE) ]] && SECOND
cat b.txt | while read -r v; do USE; CHANGE; done
while read -r v; do USE; done < b.txt; CHANGE
. /dev/stdin <<< 'CHANGE'
v=c USE; CHANGE
{ CHANGE & USE; } | { SECOND; USE; }"#;

/// What depends on the state.
const USES: &str = r#"ls MARK $v
ls MARK "$v" ${w:-d}
ls MARK
ls MARK ${v[@]} ${v[1]}
ls MARK $1 x"$*"y
ls MARK $# ${#v}
f MARK
bash -c 'ls MARK $v'
ls MARK *.txt src/*
ls MARK ${v:+e} ${v-u}
cat < $v; ls MARK
cd "$v" && ls MARK
stat MARK ~+ ../$v"#;
