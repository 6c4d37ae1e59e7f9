//! Languages whose libraries start a shell.

use super::place::{Caller, Place, Seen, caller};

pub(super) fn callers() -> Vec<Caller> {
    vec![
        caller("python subprocess", &["python3"], |place, text| {
            python(place, text, "p = subprocess.run(text, shell=True, executable=shell)\nend(p.returncode)\n")
        }),
        caller("python captures", &["python3"], |place, text| {
            let code = "p = subprocess.run(text, shell=True, executable=shell, capture_output=True)\n\
                        show(p.stdout + p.stderr)\nend(p.returncode)\n";
            python(place, text, code)
        }),
        caller("python with a list", &["python3"], |place, text| {
            let code = "p = subprocess.run([text, 'name', 'a b'], shell=True, executable=shell)\nend(p.returncode)\n";
            python(place, text, code)
        }),
        caller("python with pipes kept open", &["python3"], |place, text| {
            let code = "P = subprocess.PIPE\n\
                        p = subprocess.Popen([shell, '-c', text], stdin=P, stdout=P, stderr=subprocess.STDOUT)\n\
                        show(p.stdout.read())\nend(p.wait())\n";
            python(place, text, code)
        }),
        caller("python in a new session", &["python3"], |place, text| {
            let code = "p = subprocess.run([shell, '-lc', text], start_new_session=True, stdin=subprocess.DEVNULL)\n\
                        end(p.returncode)\n";
            python(place, text, code)
        }),
        caller("python pty", &["python3"], |place, text| {
            let code = "s = pty.spawn([shell, '-c', text])\nend(os.waitstatus_to_exitcode(s))\n";
            python(place, text, code)
        }),
        caller("node exec", &["node"], |place, text| {
            let code = "cp.exec(text, {shell}, (error, out, err) => { show(out, err);\n\
                        end(error && error.code, error && error.signal) })\n";
            node(place, text, code)
        }),
        caller("node execSync", &["node"], |place, text| {
            let code = "try { show(cp.execSync(text, {shell, stdio: 'pipe'}), ''); end(0) }\n\
                        catch (e) { show(e.stdout, e.stderr); end(e.status, e.signal) }\n";
            node(place, text, code)
        }),
        caller("node spawn", &["node"], |place, text| {
            let code = "const c = cp.spawn(text, {shell, stdio: 'inherit'})\nc.on('close', end)\n";
            node(place, text, code)
        }),
        caller("node spawn detached", &["node"], |place, text| {
            let code = "const c = cp.spawn(shell, ['-c', text], {detached: true, stdio: ['ignore', 'pipe', 'pipe']})\n\
                        let o = '', e = ''\nc.stdout.on('data', d => o += d)\nc.stderr.on('data', d => e += d)\n\
                        c.on('close', (code, signal) => { show(o, e); end(code, signal) })\n";
            node(place, text, code)
        }),
        caller("perl system", &["perl"], |place, text| {
            perl(place, text, "my $s = system($ENV{SHELL}, '-c', $text);")
        }),
        caller("perl pipe", &["perl"], |place, text| {
            let code =
                "open(my $p, '-|', $ENV{SHELL}, '-c', $text) or die; print <$p>; close($p); my $s = $?;";
            perl(place, text, code)
        }),
        caller("ruby system", &["ruby"], |place, text| {
            let code = "system(ENV['SHELL'], '-c', text)\nexit($?.exitstatus || 128 + $?.termsig)\n";
            place.write("text", text);
            let code = format!("text = File.read('{}')\n{code}", place.text_at("text"));
            place.run(place.command("ruby").args(["-e", &code]), "")
        }),
    ]
}

fn python(place: &Place, text: &str, code: &str) -> Seen {
    place.write("text", text);
    let before = format!(
        "import os, pty, subprocess, sys\ntext = open({:?}).read()\nshell = {:?}\n\
         def show(out):\n    sys.stdout.buffer.write(out)\n\
         def end(status):\n    print('status', status, flush=True); sys.exit(0)\n",
        place.at("text"),
        place.shell(),
    );
    place.run(place.command("python3").args(["-I", "-c", &(before + code)]), "")
}

fn node(place: &Place, text: &str, code: &str) -> Seen {
    place.write("text", text);
    let before = format!(
        "const cp = require('child_process'), shell = {:?}\n\
         const text = require('fs').readFileSync({:?}, 'utf8')\n\
         const show = (out, err) => {{ process.stdout.write(out); process.stderr.write(err) }}\n\
         const end = (code, signal) => console.log('status', code, signal)\n",
        place.shell(),
        place.at("text"),
    );
    place.run(place.command("node").args(["-e", &(before + code)]), "")
}

fn perl(place: &Place, text: &str, code: &str) -> Seen {
    place.write("text", text);
    let before = format!(
        "$| = 1; open(my $f, '<', '{}') or die; local $/; my $text = <$f>; close($f);",
        place.text_at("text")
    );
    let after = "print 'status ', $s >> 8, ' ', $s & 127, \"\\n\";";
    place.run(place.command("perl").args(["-e", &format!("{before} {code} {after}")]), "")
}
