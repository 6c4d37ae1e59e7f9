//! The user table, read from its file: a static program has no name service to ask.

use std::path::Path;

/// One user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct User<'t> {
    pub(super) name: &'t str,
    pub(super) id: u32,
    pub(super) home: &'t Path,
}

impl User<'_> {
    /// A person's account or root: their homes hold what nobody wants to lose. The homes of service
    /// accounts are system folders or do not exist.
    pub(super) fn is_person(&self) -> bool {
        (self.id == 0 || (1000..65534).contains(&self.id)) && self.home != Path::new("/")
    }
}

/// The users of a `passwd` file; lines that are none are passed over, as the C library does.
pub(super) fn users(text: &str) -> impl Iterator<Item = User<'_>> {
    text.lines().filter_map(user)
}

/// The name of a user of this machine; None for one that the table does not name.
#[must_use]
pub fn name_of(id: u32) -> Option<String> {
    let table = std::fs::read_to_string("/etc/passwd").ok()?;
    users(&table).find(|user| user.id == id).map(|user| user.name.to_owned())
}

/// The name of the user that we are, or their number.
#[must_use]
pub fn own_name() -> String {
    let id = nix::unistd::getuid().as_raw();
    name_of(id).unwrap_or_else(|| format!("uid {id}"))
}

/// The login shell of a user of this machine.
#[must_use]
pub fn shell_of(id: u32) -> Option<String> {
    let table = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = table.lines().find(|line| user(line).is_some_and(|user| user.id == id))?;
    line.rsplit(':').next().filter(|shell| !shell.is_empty()).map(str::to_owned)
}

fn user(line: &str) -> Option<User<'_>> {
    let mut fields = line.split(':');
    let mut field = || fields.next();
    let (name, _, id, _, _, home, _) = (field()?, field()?, field()?, field()?, field()?, field()?, field()?);
    let home = Path::new(home);
    let is_sound = fields.next().is_none() && !name.is_empty() && home.is_absolute();
    Some(User { name, id: id.parse().ok()?, home }).filter(|_| is_sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_or_passed_over() {
        let text = "root:x:0:0:root:/root:/bin/bash\n# no\nbroken:x\nann:x:1000:1000:Ann,,:/home/ann:/bin/sh\n\
                    daemon:x:1:1::/usr/sbin:/usr/sbin/nologin\nrel:x:1001:1::home:/bin/sh\nslash:x:0:0::/:/bin/sh";
        let people: Vec<_> = users(text).filter(User::is_person).map(|user| user.name).collect();
        assert_eq!(people, ["root", "ann"]);
        assert_eq!(users(text).count(), 4);
    }
}
