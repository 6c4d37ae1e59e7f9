//! Keys that are typed ahead: to whom they go.

use super::GSH;
use super::adopted::shell_at;
use crate::common::machine::Gsh;

#[test]
fn keys_that_are_typed_while_gsh_decides_reach_the_program() {
    let gsh = Gsh::new(GSH);
    // gsh starts a second after the keys were typed.
    let line =
        format!("echo begun; sleep 1; {GSH} --yolo -c 'read -r a; read -r b; echo \"<$a><$b>\"'; read -r x");
    let mut screen = shell_at(&gsh, &line);
    screen.wait_for("begun");
    screen.type_keys("early\rpart");
    screen.wait_for("early");
    screen.type_keys("ly\r");
    screen.wait_for("<early><partly>");
    screen.type_keys("\r");
    screen.wait();
}

/// Whether the kernel lets anybody type at their own terminal.
fn may_type() -> bool {
    let setting =
        std::fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").unwrap_or_else(|_| "1".to_owned());
    let status = std::fs::read_to_string("/proc/self/status").expect("our own");
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:")).expect("a set").trim();
    let is_admin = u64::from_str_radix(bits, 16).expect("a set") & (1 << 21) != 0;
    setting.trim() == "1" || is_admin
}

#[test]
fn keys_that_the_program_did_not_read_are_the_shells() {
    if !may_type() {
        eprintln!("SKIPPED: this kernel lets nobody type at a terminal, so such keys are lost");
        return;
    }
    for text in ["echo up; sleep 1", "stty -echo; echo up; sleep 1; stty echo"] {
        let gsh = Gsh::new(GSH);
        std::fs::write(gsh.at("project/text"), text).expect("the text");
        let line = format!("{GSH} --yolo -c \"$(cat text)\"; read -r a; read -r b; echo \"<$a><$b>\"");
        let mut screen = shell_at(&gsh, &line);
        screen.wait_for("up");
        super::wait_for_raw(&mut screen);
        screen.type_keys("one\rtwo\r");
        screen.wait_for("<one><two>");
        screen.wait();
    }
}

#[test]
fn keys_that_the_program_read_are_not_typed_again() {
    let gsh = Gsh::new(GSH);
    let line = format!("{GSH} --yolo -c 'read -r a; echo \"<$a>\"'; read -t 0.3 -r b; echo \"($b)\"");
    let mut screen = shell_at(&gsh, &line);
    super::wait_for_raw(&mut screen);
    screen.type_keys("read\r");
    screen.wait_for("<read>");
    screen.wait_for("()");
    screen.wait();
}
