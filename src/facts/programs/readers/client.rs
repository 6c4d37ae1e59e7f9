//! Values of clients: where they connect, and which local files a value names.

use super::{Refusal, jq};
use crate::facts::arg::Arg;
use crate::facts::programs::table::Doing;
use crate::facts::programs::{Inner, Reading, Role};
use crate::report::Span;
use crate::syntax::Cause;

/// A host: this machine's own name for itself is where a client goes without one.
pub(super) fn host(text: &str, reading: &mut Reading) {
    if !matches!(text, "localhost" | "127.0.0.1" | "::1") {
        reading.act(Doing::Network);
    }
}

/// A database's name, or a text that says where it is.
pub(super) fn database(text: &str, reading: &mut Reading) {
    let Some((_, rest)) = text.split_once("://") else {
        // `host=… dbname=…`; nothing but a name otherwise.
        if text.contains(['=', ':', '/']) {
            reading.act(Doing::Network);
        }
        return;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let place = authority.rsplit('@').next().unwrap_or_default();
    let name = place.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    if rest.contains(['?', '#', '%', ',']) {
        return reading.act(Doing::Network);
    }
    host(name.map_or(place, |(name, _)| name), reading);
}

/// Registries and forges that a name without a host is of, or that whoever uses the client means by it.
const USUAL: &[&str] = &[
    "docker.io",
    "index.docker.io",
    "registry-1.docker.io",
    "github.com",
    "gist.github.com",
    "api.github.com",
    "gitlab.com",
];

/// The name of a service that stands in a word: the usual ones are where the client goes by itself.
fn service(authority: &str, reading: &mut Reading) {
    let place = authority.rsplit('@').next().unwrap_or_default();
    let name = place.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(place, |(name, _)| name).to_ascii_lowercase();
    if !USUAL.contains(&name.as_str()) {
        host(&name, reading);
    }
}

/// `alpine:3`, `docker://ghcr.io/a/b`, `dir:PATH`: a name that begins with a host is another registry's.
pub(super) fn image(text: &str, span: Span, reading: &mut Reading) {
    let local = ["dir:", "oci:", "oci-archive:", "docker-archive:", "sif:"];
    if let Some(path) = local.iter().find_map(|start| text.strip_prefix(start)) {
        let path = path.split(':').next().unwrap_or_default();
        return reading.uses(Role::ReadTree, &Arg::literal(path, span));
    }
    if text.starts_with("containers-storage:") || text.starts_with("docker-daemon:") {
        return;
    }
    let text = text.strip_prefix("docker://").unwrap_or(text);
    if let Some((first, _)) = text.split_once('/')
        && (first.contains(['.', ':']) || first == "localhost" || first.is_empty())
    {
        service(first, reading);
    }
}

/// `OWNER/REPO`, `HOST/OWNER/REPO`, an address, a number or a branch.
pub(super) fn forge(text: &str, reading: &mut Reading) {
    if let Some((_, rest)) = text.split_once("://") {
        return service(rest.split(['/', '?', '#']).next().unwrap_or_default(), reading);
    }
    let mut parts = text.split('/');
    let first = parts.next().unwrap_or_default();
    if let Some((_, place)) = first.split_once('@') {
        return service(place.split(':').next().unwrap_or_default(), reading);
    }
    if parts.count() > 1 && first.contains(['.', ':']) {
        service(first, reading);
    }
}

/// An address: a file of this machine is read, every other one is the network.
pub(super) fn url(text: &str, span: Span, reading: &mut Reading) -> Result<(), Refusal> {
    let lower = text.to_ascii_lowercase();
    let Some(rest) = lower.strip_prefix("file:") else {
        let (head, _) = text.split_once(['/', '?', '#']).unwrap_or((text, ""));
        // A pattern can put the scheme together, and `@list` names a file of addresses.
        if head.contains(['{', '[']) || text.starts_with(['@', ' ', '\t', '\n']) {
            return Err((Cause::DynamicPath, text.to_owned()));
        }
        reading.act(Doing::Network);
        return Ok(());
    };
    let path = text.get(text.len() - rest.trim_start_matches('/').len()..).unwrap_or_default();
    if path.contains(['%', '{', '[', '?', '#', '\\']) {
        return Err((Cause::DynamicPath, text.to_owned()));
    }
    let path = path.strip_prefix("localhost/").unwrap_or(path);
    let path = path.strip_prefix("127.0.0.1/").unwrap_or(path);
    reading.uses(Role::Read, &Arg::literal(format!("/{path}"), span));
    Ok(())
}

/// A file, or an address.
pub(super) fn path_or_url(text: &str, span: Span, reading: &mut Reading) -> Result<(), Refusal> {
    if text.contains("://") || text.starts_with("file:") {
        return url(text, span, reading);
    }
    if text != "-" {
        reading.uses(Role::Read, &Arg::literal(text, span));
    }
    Ok(())
}

/// `@file`, `name=@file`: what stands in a file is put there. Of what does not look so exactly, too much is
/// called a file rather than too little.
pub(super) fn at_file(text: &str, span: Span, reading: &mut Reading) {
    let mut file = |path: &str| {
        if !path.is_empty() && path != "-" {
            reading.uses(Role::Read, &Arg::literal(path, span));
        }
    };
    let (key, value) = text.split_once('=').unwrap_or_default();
    if key.ends_with(':') {
        file(value);
    }
    for piece in [text, value] {
        if let Some(path) = piece.strip_prefix(['@', '%', '<', ':']) {
            file(path);
        }
    }
}

/// A file that is written, or behind a bar a command that gets it.
pub(super) fn pipe_file(text: &str, span: Span, reading: &mut Reading) -> Result<(), Refusal> {
    if let Some(command) = text.trim_start().strip_prefix('|') {
        let text = Arg::literal(command, span);
        reading.inner.push(Inner::Shell { text, args: Vec::new(), posix: true });
        return Err((Cause::OpaqueCode, text_of(command)));
    }
    if text != "-" {
        reading.uses(Role::Write, &Arg::literal(text, span));
    }
    Ok(())
}

fn text_of(command: &str) -> String {
    command.chars().take(40).collect()
}

/// Words of yq's language that read files or the environment, or run something.
const YQ: &[&str] = &["env", "strenv", "envsubst", "eval", "system", "exec"];

/// A filter of either yq: one of them is jq, the other has a language of its own.
pub(super) fn yq(text: &str, reading: &mut Reading) -> Result<(), Refusal> {
    let lower = text.to_ascii_lowercase();
    let in_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut rest = lower.as_str();
    let mut before = ' ';
    while let Some(letter) = rest.chars().next() {
        if !in_word(letter) {
            before = letter;
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
            continue;
        }
        let (word, after) = rest.split_at(rest.find(|letter| !in_word(letter)).unwrap_or(rest.len()));
        let loads = word.starts_with("load") || word.ends_with("load");
        let called = after.trim_start().starts_with('(');
        if before != '.' && (loads && called || YQ.contains(&word) && (called || word != "env")) {
            return Err((Cause::OpaqueCode, format!("yq: {word}")));
        }
        (before, rest) = (' ', after);
    }
    jq::program(text, reading)
}

#[cfg(test)]
mod tests {
    use super::{forge, image};
    use crate::facts::programs::Reading;
    use crate::report::Span;

    #[test]
    fn whose_images_and_repositories() {
        for (text, elsewhere) in [
            ("alpine", false),
            ("alpine:3", false),
            ("library/alpine:3@sha256:0", false),
            ("docker.io/library/alpine", false),
            ("docker://alpine", false),
            ("localhost:5000/a", false),
            ("127.0.0.1/a", false),
            ("dir:/x/y.z/w", false),
            ("containers-storage:evil.example/a", false),
            ("ghcr.io/a/b", true),
            ("docker://evil.example/a", true),
            ("evil:5000/a", true),
            ("https://evil.example/a", true),
            ("evil.example/", true),
        ] {
            let mut reading = Reading::default();
            image(text, Span::default(), &mut reading);
            assert_eq!(!reading.acts.is_empty(), elsewhere, "{text}");
        }
        for (text, elsewhere) in [
            ("12", false),
            ("v1.2", false),
            ("feature/a.b/c", false),
            ("owner/repo", false),
            ("owner/repo.js", false),
            ("group/sub/repo", false),
            ("github.com/a/b", false),
            ("https://github.com/a/b/pull/1", false),
            ("git@github.com:a/b.git", false),
            ("evil.example/a/b", true),
            ("evil:8443/a/b", true),
            ("https://evil.example/a/b", true),
            ("https://github.com@evil.example/a/b", true),
            ("git@evil.example:a/b", true),
            ("ssh://git@evil.example/a", true),
        ] {
            let mut reading = Reading::default();
            forge(text, &mut reading);
            assert_eq!(!reading.acts.is_empty(), elsewhere, "{text}");
        }
    }
}
