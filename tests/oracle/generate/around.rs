//! What stands around a command: redirections, and programs that run it.

use super::{Maker, Manner};

impl Maker {
    /// One redirection.
    fn redirection(&mut self) -> String {
        let marker = self.marker();
        let file = match self.numbers.below(6) {
            0 => "/dev/null".to_owned(),
            1 => "out.txt".to_owned(),
            2 => format!("/tmp/{marker}"),
            3 => format!("~/{marker}"),
            4 => format!("\"$HOME/{marker}\""),
            _ => marker,
        };
        let nasty = self.manner == Manner::Nasty;
        match self.numbers.below(if nasty { 19 } else { 9 }) {
            0..=2 => format!("> {file}"),
            3 => format!(">> {file}"),
            4 => format!("2> {file}"),
            5 => "2>&1".to_owned(),
            6 => "< a.txt".to_owned(),
            7 => format!("&> {file}"),
            8 => "2>/dev/null".to_owned(),
            9 => format!(">| {file}"),
            10 => format!("3<>{file}"),
            11 => format!(">&{file}"),
            12 => format!("{{fd}}>{file}"),
            13 => format!("<<< \"$(ls {file})\""),
            14 => format!("> $(echo {file})"),
            15 => format!("&>> {file}"),
            16 => "<&-".to_owned(),
            17 => format!("> >(cat > {file})"),
            _ => format!("5>{file} 1>&5"),
        }
    }

    /// A command with redirections.
    pub(super) fn redirected(&mut self, depth: usize) -> String {
        self.row("redirection");
        let mut text = self.plain(depth);
        for _ in 0..1 + self.numbers.below(2) {
            let redirection = self.redirection();
            text = format!("{text} {redirection}");
        }
        if self.nasty(25) {
            let (first, marker) = (self.redirection(), self.marker());
            text = format!("{first} ls {marker} -l; {text}");
        }
        if self.nasty(15) {
            self.row("lone redirection");
            let first = self.redirection();
            text = format!("{first}; {text}");
        }
        text
    }

    /// A command inside of a program that runs it.
    pub(super) fn wrapped(&mut self, depth: usize) -> String {
        self.row("wrapper");
        let inner = self.simple(depth.min(1));
        let nasty = self.manner == Manner::Nasty;
        match self.numbers.below(if nasty { 24 } else { 12 }) {
            0 => format!("timeout 5 {inner}"),
            1 => format!("env A=1 {inner}"),
            2 => format!("nice -n 5 {inner}"),
            3 => format!("nohup {inner}"),
            4 => format!("sudo {inner}"),
            5 => format!("echo one two | xargs {}", self.flat()),
            6 => format!("find . -name '*.rs' -exec {} {{}} \\;", self.flat()),
            7 => format!("find src -type f -exec {} {{}} +", self.flat()),
            8 => format!("command {inner}"),
            9 => format!("find . -name '*.txt' | xargs -I{{}} {} {{}}", self.flat()),
            10 if nasty => format!("xargs -n1 {} < a.txt", self.flat()),
            10 => format!("find src -name '*.rs' | xargs -n1 {}", self.flat()),
            11 => format!("env {inner}"),
            12 => format!("env -i PATH=/usr/bin {inner}"),
            13 => format!("timeout -k 1 5 nice env B=2 {inner}"),
            14 => format!("setsid {inner}"),
            15 => format!("stdbuf -oL {inner}"),
            16 => format!("builtin command {inner}"),
            17 => format!("find . -maxdepth 1 -name '*.txt' -exec sh -c '{} \"$1\"' _ {{}} \\;", self.flat()),
            18 => format!("echo {} | xargs -n 1 -I% sh -c '{} %'", self.marker(), self.flat()),
            19 => format!("env -C src {inner}"),
            20 => format!("(exec {inner})"),
            21 => format!("xargs -0 -a a.txt {}", self.flat()),
            22 => format!("env -S '{}'", self.flat()),
            _ => format!("find . -name a.txt -execdir {} {{}} \\;", self.flat()),
        }
    }
}
