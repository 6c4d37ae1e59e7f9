//! vim, as a filter of lines and on a terminal.

use super::place::{Caller, Place, Seen, Shell, caller};

/// vim puts parentheses around the text, and what begins with `((` could be arithmetic: gsh asks.
const PARENTHESES: [&str; 1] = ["(sleep 0.05; echo late) & echo early; wait"];

/// `system()` has nowhere to show what the shell itself says: only the status arrives.
pub(super) fn callers() -> Vec<Caller> {
    vec![
        caller("vim :!", &["vim"], |place, text| {
            ex(place, text, "execute '!' . escape(g:text, '%#!')\nlet g:status = v:shell_error")
        }),
        caller("vim :r !", &["vim"], |place, text| {
            ex(place, text, "execute 'r !' . escape(g:text, '%#!')\nlet g:status = v:shell_error")
        })
        .without(&PARENTHESES),
        caller("vim system()", &["vim"], |place, text| {
            ex(place, text, "call append(0, split(system(g:text), \"\\n\"))\nlet g:status = v:shell_error")
        })
        .without(&PARENTHESES)
        .deaf(),
        caller("vim's filter", &["vim"], |place, text| {
            ex(place, text, "execute '%!' . escape(g:text, '%#!')\nlet g:status = v:shell_error")
        })
        .without(&PARENTHESES),
        caller("vim with input for system()", &["vim"], |place, text| {
            let code =
                "call append(0, split(system(g:text, \"b\\na\\n\"), \"\\n\"))\nlet g:status = v:shell_error";
            ex(place, text, code)
        })
        .without(&PARENTHESES)
        .deaf(),
    ]
}

/// Without a screen, so that what it prints is the commands' own.
fn ex(place: &Place, text: &str, code: &str) -> Seen {
    place.write("text", text);
    let script = format!(
        "set shell={}\nlet g:text = join(readfile('{}'), \"\\n\")\n{code}\n\
         call append('$', 'status ' . g:status)\n%print\nwrite! after.txt\nqall!\n",
        place.shell(),
        place.text_at("text"),
    );
    place.write("script.vim", &script);
    place.write("work/lines.txt", "b\na\n");
    let mut command = place.command("vim");
    command.args([
        "-N",
        "-u",
        "NONE",
        "-i",
        "NONE",
        "-n",
        "-es",
        "-S",
        &place.text_at("script.vim"),
        "lines.txt",
    ]);
    // Its own status tells whether a file that was to be read is there; that of the command is in the text.
    let seen = place.run(&mut command, "");
    Seen { status: seen.stdout.lines().last().unwrap_or_default().to_owned(), ..seen }
}

/// Keys that run commands in each of vim's ways, and what shows that it is time for the next ones.
const KEYS: [(&str, &str); 6] = [
    (":%!sort\r", "a\nb"),
    (":!echo shown-$((40 + 2)); exit 7\r", "shell returned 7"),
    ("\r:r !echo read-$((40 + 2))\r", "read-42"),
    (":call append(0, system('cat; echo called', 'given'))\r", "givencalled"),
    (":w !cat > written.txt\r", "Press ENTER"),
    ("\r:wq! after.txt\r", ""),
];

fn on_terminal(place: &Place, shell: Shell<'_>) -> (u32, std::collections::BTreeMap<String, String>) {
    place.fresh(shell);
    place.write("work/lines.txt", "b\na\n");
    let set = format!("set shell={}", place.shell());
    let args = ["-N", "-u", "NONE", "-i", "NONE", "-n", "--cmd", &set, "--cmd", "set report=0", "lines.txt"];
    let mut screen = place.screen("vim", &args);
    screen.wait_for("lines.txt");
    for (keys, shows) in KEYS {
        screen.type_keys(keys);
        screen.wait_for(shows);
    }
    (screen.wait(), place.files())
}

#[test]
fn vim_on_a_terminal_does_with_gsh_what_it_does_with_bash() {
    let place = Place::new();
    if super::place::find("vim").is_none() {
        return println!("\n**** vim on a terminal SKIPPED: not installed ****\n");
    }
    let bash = on_terminal(&place, Shell::Bash);
    assert_eq!(on_terminal(&place, Shell::Gsh(super::BYPASS)), bash);
    assert!(bash.1.contains_key("/written.txt"), "{bash:?}");
}

#[test]
fn vim_on_a_terminal_shows_a_refusal() {
    if super::place::find("vim").is_none() {
        return println!("\n**** vim on a terminal SKIPPED: not installed ****\n");
    }
    let place = Place::new();
    place.fresh(Shell::Gsh(super::BYPASS));
    let set = format!("set shell={}", place.shell());
    let mut screen = place.screen("vim", &["-N", "-u", "NONE", "-i", "NONE", "-n", "--cmd", &set]);
    screen.wait_for("VIM");
    screen.type_keys(":!touch ran; gsh-canary-deny\r");
    screen.wait_for("shell returned 126");
    assert!(screen.text().contains("gsh: refused"), "{}", screen.text());
    screen.type_keys("\r:q!\r");
    assert_eq!(screen.wait(), 0);
    assert!(!place.at("work/ran").exists());
}
