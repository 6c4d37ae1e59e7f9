//! Calls with literal arguments, and what they would do.

use std::cell::Cell;

use super::lex::{HOME, Token, tokens};
use super::values::Value;
use super::{Danger, Tongue};
use crate::facts::programs::Role;

/// The most dangers that one text is looked through for.
const FOUND: usize = 64;

/// What stands plainly in a text of this language. `home` is the folder that its code may name.
pub(in crate::facts) fn dangers(tongue: Tongue, text: &str, home: &str) -> Vec<Danger> {
    let tokens = tokens(tongue, text);
    let depth = Cell::new(0);
    let code = Code {
        tongue,
        tokens: &tokens,
        depth,
        runs: tongue != Tongue::JavaScript || starts_programs(&tokens),
    };
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        code.at(at, &mut found);
        if found.len() >= FOUND {
            break;
        }
    }
    found.into_iter().map(|danger| homed(danger, home)).collect()
}

/// Whether JavaScript code has its hands on what starts programs: other things have an `exec` too.
fn starts_programs(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| match token {
        Token::Text(Some(text)) => text.ends_with("child_process") || text == "execa" || text == "zx",
        Token::Name(name) => matches!(name.as_str(), "Bun" | "Deno" | "$"),
        _ => false,
    })
}

fn homed(danger: Danger, home: &str) -> Danger {
    let put = |text: String| text.replace(HOME, home);
    match danger {
        Danger::Shell(text) => Danger::Shell(put(text)),
        Danger::Words(words) => Danger::Words(words.into_iter().map(put).collect()),
        Danger::Path(role, path) => Danger::Path(role, put(path)),
        other => other,
    }
}

pub(super) struct Code<'a> {
    pub(super) tongue: Tongue,
    pub(super) tokens: &'a [Token],
    /// Names that start programs mean that here.
    runs: bool,
    /// How many values are being read inside each other.
    pub(super) depth: Cell<usize>,
}

impl Code<'_> {
    pub(super) fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    pub(super) fn name(&self, at: usize) -> Option<&str> {
        match self.token(at) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    pub(super) fn is(&self, at: usize, sign: char) -> bool {
        self.token(at) == Some(&Token::Sign(sign))
    }

    /// What begins at this token.
    fn at(&self, at: usize, found: &mut Vec<Danger>) {
        match self.token(at) {
            Some(Token::Command(Some(text))) => found.push(Danger::Shell(text.clone())),
            Some(Token::Name(name)) => {
                if name == "fork" && self.forks_forever(at) {
                    found.push(Danger::Forks);
                }
                if name == "kill" && self.kills_all(at + 1) {
                    found.push(Danger::KillAll);
                }
                self.call(name, at + 1, found);
            }
            _ => {}
        }
    }

    /// A call of a known name, in brackets or, where the language has that, without.
    fn call(&self, name: &str, after: usize, found: &mut Vec<Danger>) {
        let bare = matches!(self.tongue, Tongue::Perl | Tongue::Ruby | Tongue::Lisp | Tongue::Lua);
        let next = self.token(after);
        let args = match next {
            Some(Token::Sign('(')) => self.arguments(after + 1),
            Some(Token::Text(_) | Token::List(_)) if bare => self.arguments(after),
            Some(Token::Name(name)) if bare && matches!(name.as_str(), "Dir" | "ENV" | "File") => {
                self.arguments(after)
            }
            _ => return,
        };
        if self.runs && runs(self.tongue, name) {
            found.extend(program(self.tongue, name, &args));
        } else if let Some(role) = self.changes(name, after, &args) {
            let path = match args.first() {
                Some(Value::Text(path)) => Some(path.clone()),
                // `Path("x").unlink()`: the path stands before the name.
                _ if args.is_empty() => self.object(after),
                _ => None,
            };
            found.extend(path.map(|path| Danger::Path(role, path)));
        }
    }

    /// The text in `Path("…")` right before `.name(`.
    fn object(&self, after: usize) -> Option<String> {
        let start = after.checked_sub(6)?;
        match self.tokens.get(start..after)? {
            [
                Token::Name(name),
                Token::Sign('('),
                Token::Text(Some(text)),
                Token::Sign(')'),
                Token::Sign('.'),
                _,
            ] if matches!(name.as_str(), "Path" | "Pathname") => Some(text.clone()),
            _ => None,
        }
    }

    /// What a call does to the path that is its first argument.
    fn changes(&self, name: &str, after: usize, args: &[Value]) -> Option<Role> {
        let mode = match args.get(1) {
            Some(Value::Text(mode)) => mode.as_str(),
            _ => "",
        };
        Some(match name {
            "rmtree"
            | "remove_tree"
            | "rm_rf"
            | "rm_r"
            | "remove_dir"
            | "remove_entry"
            | "remove_entry_secure"
            | "rimraf"
            | "removeSync"
            | "emptyDirSync"
            | "emptyDir"
            | "delete-directory" => Role::DeleteTree,
            "rm" | "rmSync" | "rmdir" | "rmdirSync" if self.is_recursive(after) => Role::DeleteTree,
            "remove" | "unlink" | "unlinkSync" | "rmdir" | "rmSync" | "rmdirSync" | "removedirs"
            | "delete-file" => Role::Delete,
            "open" | "fopen" if mode.starts_with(['w', 'a', 'x', 'r']) && mode.contains(['w', '+']) => {
                Role::Write
            }
            "write_text" | "write_bytes" | "writeFileSync" | "writeFile" | "createWriteStream"
            | "truncateSync" | "truncate" | "file_put_contents" | "writeTextFile" | "binwrite" => Role::Write,
            "rename" | "renameSync" | "move" => Role::MoveFrom,
            _ => return None,
        })
    }

    /// Whether a call's arguments ask for everything below.
    fn is_recursive(&self, after: usize) -> bool {
        let words = self.tokens.iter().skip(after).take(24);
        words
            .take_while(|token| **token != Token::Sign(';'))
            .any(|token| matches!(token, Token::Name(name) if name == "recursive"))
    }

    /// Whether nothing but an endless loop stands around this `fork`.
    fn forks_forever(&self, at: usize) -> bool {
        let idle = |token: &Token| match token {
            Token::Name(name) => {
                matches!(name.as_str(), "1" | "True" | "true" | "os" | "Process" | "fork" | "and" | "do")
            }
            Token::Sign(sign) => matches!(sign, '(' | ')' | '{' | '}' | ':' | ';' | '.' | '\n'),
            _ => false,
        };
        let loops = |token: &Token| matches!(token, Token::Name(name) if matches!(name.as_str(), "while" | "loop" | "until"));
        let before = self.tokens.get(..at).unwrap_or_default();
        let after = self.tokens.get(at + 1..).unwrap_or_default();
        before.iter().rev().find(|token| !idle(token)).is_some_and(loops)
            || after.iter().find(|token| !idle(token)).is_some_and(loops)
    }

    /// Whether the process `-1` is among the next few words.
    fn kills_all(&self, from: usize) -> bool {
        let next = self.tokens.get(from..).unwrap_or_default();
        let end = next.iter().take(8).position(|token| matches!(token, Token::Sign(')' | ';' | '\n')));
        let next = next.get(..end.unwrap_or(next.len().min(8))).unwrap_or_default();
        next.windows(2).any(|pair| matches!(pair, [Token::Sign('-'), Token::Name(one)] if one == "1"))
    }
}

/// Names that run a shell or start a program.
fn runs(tongue: Tongue, name: &str) -> bool {
    let names: &[&str] = match tongue {
        Tongue::Python => &[
            "system",
            "popen",
            "getoutput",
            "getstatusoutput",
            "run",
            "call",
            "check_call",
            "check_output",
            "Popen",
            "spawn",
            "create_subprocess_shell",
            "create_subprocess_exec",
            "execl",
            "execle",
            "execlp",
            "execv",
            "execve",
            "execvp",
            "spawnl",
            "spawnlp",
            "spawnv",
            "spawnvp",
        ],
        Tongue::JavaScript => &[
            "exec",
            "execSync",
            "spawn",
            "spawnSync",
            "execFile",
            "execFileSync",
            "execa",
            "execaSync",
            "Command",
        ],
        Tongue::Perl => &["system", "exec"],
        Tongue::Ruby => &["system", "exec", "spawn", "popen", "capture2", "capture2e", "capture3", "popen3"],
        Tongue::Php => &["system", "exec", "shell_exec", "passthru", "popen", "proc_open"],
        Tongue::Lua => &["execute", "popen", "system"],
        Tongue::Lisp => {
            &["shell-command", "shell-command-to-string", "async-shell-command", "call-process-shell-command"]
        }
    };
    names.contains(&name)
}

/// What such a call runs: one text is a shell's, several are a program's words.
fn program(tongue: Tongue, name: &str, args: &[Value]) -> Option<Danger> {
    let mut words = Vec::new();
    let mut list = false;
    for arg in args {
        match arg {
            Value::Text(text) => words.push(text.clone()),
            Value::List(items) => {
                list = true;
                words.extend(items.iter().cloned());
            }
            // What a call is told beside its command (`shell=True`, a callback) ends the words.
            Value::Unknown => {
                let mode = words.is_empty() && name.starts_with("spawn") && tongue == Tongue::Python;
                if !mode {
                    break;
                }
            }
        }
    }
    let replaces = tongue == Tongue::Python
        && (name.starts_with("exec") || name.starts_with("spawn") && name != "spawn");
    // Python's are given the program, and then all words with the program's name again.
    if replaces && words.len() > 1 {
        words.remove(1);
    }
    match words.as_slice() {
        [] => None,
        [only] if !list && !replaces => Some(Danger::Shell(only.clone())),
        _ => Some(Danger::Words(words)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(program: &str, text: &str) -> Vec<Danger> {
        dangers(Tongue::of(program).expect("a language"), text, "/home/dev")
    }

    #[test]
    fn literal_calls_are_seen() {
        let shell = |text: &str| Danger::Shell(text.to_owned());
        let words = |text: &str| Danger::Words(text.split(' ').map(str::to_owned).collect());
        let path = |role, path: &str| Danger::Path(role, path.to_owned());
        for (program, text, expected) in [
            ("python3", "import os; os.system('ls -l')", shell("ls -l")),
            ("python3", "os.system('ls ' + \"-l\" ' x')", shell("ls -l x")),
            ("python3.12", "subprocess.run(['ls', '-l'], check=True)", words("ls -l")),
            ("python3", "subprocess.run('ls -l', shell=True)", shell("ls -l")),
            ("python3", "os.execvp('ls', ['ls', '-l'])", words("ls -l")),
            ("python3", "shutil.rmtree(os.path.expanduser('~/x'))", path(Role::DeleteTree, "/home/dev/x")),
            ("python3", "shutil.rmtree(os.environ['HOME'])", path(Role::DeleteTree, "/home/dev")),
            ("python3", "shutil.rmtree(Path.home())", path(Role::DeleteTree, "/home/dev")),
            ("python3", "from pathlib import Path\nPath('/x').unlink()", path(Role::Delete, "/x")),
            ("python3", "open('/x', 'wb').write(b'')", path(Role::Write, "/x")),
            ("python3", "os.system(base64.b64decode('bHMgLWwK').decode())", shell("ls -l\n")),
            ("python3", "while True:\n  os.fork()", Danger::Forks),
            ("python3", "os.kill(-1, 9)", Danger::KillAll),
            ("node", "require('child_process').execSync('ls -l')", shell("ls -l")),
            ("node", "require('child_process').spawn('ls', ['-l'])", words("ls -l")),
            ("node", "fs.rmSync('/x', { recursive: true })", path(Role::DeleteTree, "/x")),
            ("bun", "await Bun.$`ls -l`", shell("ls -l")),
            ("perl", "system('ls -l')", shell("ls -l")),
            ("perl", "system 'ls', '-l';", words("ls -l")),
            ("perl", "system qw(ls -l)", words("ls -l")),
            ("perl", "my $x = `ls -l`;", shell("ls -l")),
            ("perl", "print qx{ls -l}", shell("ls -l")),
            ("perl", "use File::Path; rmtree(\"$ENV{HOME}/x\")", path(Role::DeleteTree, "/home/dev/x")),
            ("perl", "fork while fork", Danger::Forks),
            ("perl", "kill 9, -1", Danger::KillAll),
            ("ruby", "system 'ls -l' if true", shell("ls -l")),
            ("ruby", "%x(ls -l)", shell("ls -l")),
            ("ruby", "require 'fileutils'; FileUtils.rm_rf('/x')", path(Role::DeleteTree, "/x")),
            ("ruby", "FileUtils.rm_rf Dir.home", path(Role::DeleteTree, "/home/dev")),
            ("php", "shell_exec('ls -l');", shell("ls -l")),
            ("php", "echo `ls -l`;", shell("ls -l")),
            ("lua", "os.execute('ls -l')", shell("ls -l")),
            ("emacs", "(shell-command \"ls -l\")", shell("ls -l")),
        ] {
            let found = of(program, text);
            assert!(found.contains(&expected), "{program}: {text} shows {found:?}");
        }
    }

    #[test]
    fn data_is_data() {
        for (program, text) in [
            ("python3", "print(\"os.system('ls')\")"),
            ("python3", "# os.system('ls')\nprint(1)"),
            ("python3", "'''\nos.system('ls')\n'''"),
            ("python3", "os.system(command)"),
            ("python3", "os.system('ls ' + x)"),
            ("python3", "os.system(f'ls {x}')"),
            ("python3", "shutil.rmtree(x)"),
            ("python3", "open('/x').read()"),
            ("python3", "open('/x', 'r')"),
            ("python3", "while True:\n  c = accept()\n  if os.fork() == 0: serve(c)"),
            ("node", "console.log(/a/.exec('ls -l'))"),
            ("node", "// require('child_process').execSync('ls')"),
            ("node", "require('child_process').execSync(`ls ${x}`)"),
            ("perl", "print 'system(\"ls\")'"),
            ("perl", "system(\"ls $x\")"),
            ("ruby", "puts \"`ls`\""),
            ("php", "// exec('ls')"),
            ("lua", "-- os.execute('ls')"),
        ] {
            let found = of(program, text);
            assert!(found.is_empty(), "{program}: {text} shows {found:?}");
        }
    }
}
