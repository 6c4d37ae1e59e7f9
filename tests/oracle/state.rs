//! Tables of small scripts: changes of a shell's state, the places where they can stand, and what
//! depends on them; programs that write or run what their words say.

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

/// A program that really works in the cage and writes or runs what its words say.
pub(crate) fn working(numbers: &mut Numbers, marker: &str) -> String {
    one(numbers, WORKERS).replace("MARK", marker)
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

/// Calls of programs that write or run something themselves.
const WORKERS: &str = r#"sort -o MARK a.txt
sort a.txt -oMARK
sort -ro MARK a.txt
sort --output=MARK a.txt
sort --outp MARK a.txt
tee MARK < a.txt
tee -a MARK out.txt < a.txt
tee -- -MARK < a.txt
sed -i s/a/b/ a.txt
sed -ni s/a/b/ a.txt
sed -n -i -e s/a/b/ -e s/b/c/ a.txt b.txt
sed -n 'w MARK' a.txt
sed 's/a/b/w MARK' a.txt
sed -n '/a/{p;w MARK
}' a.txt
sed '1e ls MARK' a.txt
sed 's/.*/ls MARK/e' a.txt
sed -e 'a\' -e 'w MARK' a.txt
sed --expression='wMARK' a.txt
sed 'y/w/x/;s,a,w,;W MARK' a.txt
awk '{print > "MARK"}' a.txt
awk '{print >> "MARK"}' a.txt
awk 'BEGIN { system("ls MARK") }'
awk '{ print | "cat > MARK" }' a.txt
awk '{ "ls MARK" | getline x }' a.txt
awk -v x=MARK 'BEGIN { printf "y" > x }'
awk '/a/ { print $1 }' a.txt
awk '{ if ($1 > "b") print }' a.txt
find . -name '*.log' -delete
find build -delete
find src -name '*.rs' -fprint MARK
find . -name a.txt -fls MARK
find . -name a.txt -fprintf MARK '%p'
find . -maxdepth 1 -type f -exec sh -c 'echo x > "$1.MARK"' _ {} \;
find . -name a.txt -exec ls MARK {} ';' -o -name b.txt -exec stat {} +
find . -name '*.rs' -exec sh -c 'ls MARK "$@"' _ {} +
find a.txt -exec bash -c 'ls MARK {}' \;
uniq a.txt MARK
uniq -c a.txt
env -S 'ls MARK'
env -iS'ls MARK'
env PATH=/usr/bin ls MARK
env -C src sh -c '> MARK'
env --chdir=src ls MARK
env -- ls MARK
env A=1 -- ls MARK
xargs -a a.txt -I% ls MARK %
xargs -n1 -P2 ls MARK < a.txt
xargs -L1 sh -c 'ls MARK $0' < a.txt
xargs -i ls MARK {} < a.txt
xargs -d '\n' -n 1 touch < a.txt
timeout 1 sh -c 'ls MARK > x.MARK'
timeout --signal=KILL -v 1 ls MARK
nohup sh -c '> MARK'
nice -5 ls MARK
nice -n -5 ls MARK
setsid -w ls MARK
stdbuf -o0 -e 0 ls MARK
flock a.txt ls MARK
flock a.txt -c 'ls MARK'
flock -n MARK ls x
tee >(ls MARK) < a.txt
tee >(cat > MARK) < a.txt > /dev/null
cat a.txt | tee -a MARK | sort > s.MARK
mktemp -p . MARK.XXXXXX
mktemp ./MARK.XXXXXX
date > MARK; date -r a.txt
printf '%s\n' MARK > MARK
printf 'ls %s\n' MARK | sh
echo -e 'ls MARK' | sh
echo -n 'ls MARK' | bash
echo 'ls' MARK | bash -
printf %b 'ls\x20MARK' | sh
echo ls MARK > s.sh && sh s.sh
head -c 10 a.txt > MARK
cut -c1 a.txt >> MARK
seq 3 | xargs -I{} touch MARK{}
seq 1 2 | while read -r n; do > "MARK$n"; done
ls *.txt | xargs -n1 stat
ls | head -3 | xargs ls MARK
grep -l a *.txt | xargs -r ls MARK
grep -rl fn src | xargs sed -i s/a/b/
find . -name '*.txt' | while read -r f; do > "$f.MARK"; done
find . -name '*.txt' -print0 | xargs -0 rm MARK
for f in *.txt; do > "${f%.txt}.MARK"; done
for f in src/*; do echo x >> "$f"; done
for d in src docs; do (cd "$d" && > MARK); done
while read -r f; do > "$f"; done < a.txt
exec > MARK; echo x; ls m
exec 3> MARK; echo x >&3; exec 3>&-
{ echo x; echo y >&2; } > MARK 2> e.MARK
(echo x; (echo y) 1>&2) 2>&1 | tee MARK
echo x > MARK > t.MARK
echo x 2>&1 >MARK | cat
: > "MARK a"; : > 'b'"MARK"; : > MARK\ c
cd src && > MARK; cd ../docs && > MARK; cd - && > t.MARK
pushd src > /dev/null && > MARK && popd > MARK
> ~/MARK; > $HOME/t.MARK; > "${HOME}/u.MARK"; > ~+/v.MARK
> src/../MARK; > ./docs//MARK; > /home/dev/proj/../MARK
> ${unset:-MARK}; > "$(echo t.MARK)"; > `echo u.MARK`
> MARK-{a,b}; > MARK*; > [a].MARK
cat > MARK <<EOF
$(ls x)
EOF
bash -c 'echo x > "$0"' MARK
bash -c 'cd src; > MARK'
sh -c '> MARK; ls > t.MARK' 2> e.MARK
eval '> MARK' '; > t.MARK'
eval "> MARK"
f() { > "$1"; }; f MARK; f t.MARK
f() { > MARK; } 2> e.MARK; f
trap '> MARK' EXIT
if > MARK; then > t.MARK; fi > u.MARK
case x in x) > MARK;; esac > t.MARK
for i in 1; do echo; done > MARK
{ > MARK; } & wait; (> t.MARK) | cat
coproc > MARK; wait
time > MARK; ! > t.MARK
[[ -f a.txt ]] > MARK; (( 1 )) > t.MARK
x=1 > MARK; export y=2 > t.MARK
read -r x < a.txt > MARK; > "$x"
>| MARK; >>t.MARK; &> u.MARK; 2> v.MARK; 7<> w.MARK; >& x.MARK; &>> y.MARK; {fd}> z.MARK
tee /tmp/$(ls src) < a.txt
tee $(ls src)/../MARK < a.txt
for f in /tmp/$(ls src); do > $f; done
v='a[$(ls MARK)]'; [[ v -eq 0 ]]
v='a[$(ls MARK)]'; [[ 0 -lt v ]]; [ v -eq 0 ]
v='a[$(ls MARK)]'; let v
v='a[$(ls MARK)]'; let 'v+1'
v='a[$(ls MARK)]'; test "$v" -eq 0
v='a[$(ls MARK)]'; ls ${HOME:v}
v='a[$(ls MARK)]'; x[v]=1
v='a[$(ls MARK)]'; x=([v]=1)
v='a[$(ls MARK)]'; echo ${x[v]}
v='a[$(ls MARK)]'; for ((i=v;i<1;i++)); do :; done
v='a[$(ls MARK)]'; declare -i n=v
v='a[$(ls MARK)]'; printf %d v; read -t v x
v='a[$(ls MARK)]'; unset 'x[v]'; [[ -v x[v] ]]
v='a[$(ls MARK)]'; export v; bash -c '[[ v -eq 0 ]]'
v='a[$(ls MARK)]' bash -c '((v))'
mapfile -t v <<< 'a[$(ls MARK)]'; [[ v -eq 0 ]]
set -- 'a[$(ls MARK)]'; (( $1 ))
f() { ls MARK; }; for i in 1 2; do f; f() { rm MARK; }; done
set -- a b; set -- "$@" MARK; ls "$@" $# ${1} ${*}
set -- a b MARK; ls "${@:2}"
v=(a *.none); > new; v=(*.txt); ls MARK "${v[@]}""#;
