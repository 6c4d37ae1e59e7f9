//! Clients that take a value from a file or an address when it is written in a certain way.

use crate::facts::arg::Arg;
use crate::facts::environment::names_secret;
use crate::facts::programs::scan::{Found, Scan};
use crate::facts::programs::table::Doing;
use crate::facts::programs::{Reading, Role};
use crate::syntax::Cause;

/// Options whose value is an address by nature, of the service itself.
const ADDRESSES: &[&str] = &["--queue-url"];

/// `--filters file://F`, `--body @F`: the file is read; `https://…`: it is fetched.
pub(super) fn value_files(scan: &Scan, reading: &mut Reading) {
    for found in &scan.found {
        let address = found.option.names.iter().any(|name| ADDRESSES.contains(name));
        for value in found.value.iter().chain(&found.second) {
            value_file(value, found.index, address, reading);
        }
    }
    for (index, word) in &scan.operands {
        let list = scan.found.iter().rev().find(|found: &&Found| found.index < *index);
        let address =
            list.is_some_and(|found| found.option.names.iter().any(|name| ADDRESSES.contains(name)));
        value_file(word, *index, address, reading);
    }
}

fn value_file(value: &Arg, index: usize, address: bool, reading: &mut Reading) {
    let head = value.head();
    let file = ["file://", "fileb://", "@"].into_iter().find(|start| head.starts_with(start));
    if let Some(start) = file {
        let path = value.after(start.len());
        if !matches!(path.text(), Some("" | "-")) {
            reading.uses(Role::Read, &path);
        }
    } else if head.starts_with("http://") || head.starts_with("https://") {
        let host = head.split('/').nth(2).unwrap_or_default();
        if !address || !host.ends_with(".amazonaws.com") && !host.ends_with(".amazonaws.com.cn") {
            reading.act(Doing::Network);
        }
    } else if value.text().is_none() && head.is_empty() {
        reading.unexplained(Cause::DynamicWord, value.display(), Some(index));
    } else if head.contains("@=")
        || head.contains("=@")
        || head.contains("=file://")
        || head.contains("=fileb://")
    {
        // A part of the value comes from a file.
        reading.unexplained(Cause::UnknownOption, value.display(), Some(index));
    }
}

/// `rclone ls :http,url=…:`, `rclone ls remote,endpoint=…:`: not the configured one.
pub(super) fn remotes(scan: &Scan, reading: &mut Reading) {
    for (index, word) in &scan.operands {
        match word.text() {
            Some(text)
                if text.starts_with(':')
                    || text
                        .split(':')
                        .next()
                        .is_some_and(|name| name.len() < text.len() && name.contains(',')) =>
            {
                reading.act(Doing::Network);
            }
            Some(_) => {}
            None => reading.unexplained(Cause::DynamicWord, word.display(), Some(*index)),
        }
    }
}

/// `printenv SOME_TOKEN`, `etcdctl get ''`: what is printed by its name is a secret, or all there is.
pub(super) fn secret_names(scan: &Scan, reading: &mut Reading) {
    for (_, word) in &scan.operands {
        match word.text() {
            Some(text) if !text.trim_matches('/').is_empty() && !names_secret(text) => {}
            _ => reading.act(Doing::RevealSecrets),
        }
    }
}

/// Words of a template that print what holds the environment, or everything.
const WHOLE: &[&str] =
    &["Config", "ContainerConfig", "Spec", "PreviousSpec", "TaskTemplate", "ContainerSpec", "json", ""];

/// `docker inspect -f TEMPLATE`: whether the environment is printed.
pub(super) fn inspected(scan: &Scan, reading: &mut Reading) {
    for found in scan.given("--format") {
        let Some(value) = &found.value else { continue };
        match value.text() {
            Some(text) if reveals(text) => reading.act(Doing::RevealSecrets),
            Some(_) => {}
            None => reading.unexplained(Cause::DynamicWord, value.display(), Some(found.index)),
        }
    }
}

fn reveals(template: &str) -> bool {
    let word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '$' | '_');
    let mut words = template.split(|letter| !word(letter)).filter(|each| !each.is_empty());
    let last = |each: &str| each.rsplit('.').next().unwrap_or_default().to_owned();
    template.trim() == "json"
        || template.contains("Env")
        || words.any(|each| each.contains(['.', '$']) && WHOLE.contains(&last(each).as_str()) || each == "$")
}

#[cfg(test)]
mod tests {
    use super::reveals;

    #[test]
    fn which_templates_print_the_environment() {
        for (template, expected) in [
            ("{{.State.Status}}", false),
            ("{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", false),
            ("{{json .Mounts}}", false),
            ("{{.Config.Image}}", false),
            ("{{index .Config.Labels \"a.b\"}}", false),
            ("{{range $k, $v := .Config.Labels}}{{$k}} {{end}}", false),
            ("json", true),
            ("{{json .}}", true),
            ("{{.}}", true),
            ("{{$}}", true),
            ("{{json $.Config}}", true),
            ("{{.Config.Env}}", true),
            ("{{.Config}}", true),
            ("{{index .Config \"Env\"}}", true),
            ("{{with .Config}}{{json .}}{{end}}", true),
            ("{{.Spec.TaskTemplate.ContainerSpec}}", true),
        ] {
            assert_eq!(reveals(template), expected, "{template}");
        }
    }
}
