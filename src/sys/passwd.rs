//! The user table, read from its file: a static program has no name service to ask.

use std::path::{Path, PathBuf};

/// One user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) id: u32,
    pub(super) home: PathBuf,
}

impl User {
    /// A person's account or root: their homes hold what nobody wants to lose. The homes of service
    /// accounts are system folders or do not exist.
    pub(super) fn is_person(&self) -> bool {
        (self.id == 0 || (1000..65534).contains(&self.id)) && self.home != Path::new("/")
    }
}

/// The users of a `passwd` file; lines that are none are passed over, as the C library does.
pub(super) fn users(text: &str) -> Vec<User> {
    text.lines().filter_map(user).collect()
}

fn user(line: &str) -> Option<User> {
    let fields: Vec<&str> = line.split(':').collect();
    let [name, _, id, _, _, home, _] = fields.as_slice() else { return None };
    let home = PathBuf::from(home);
    (!name.is_empty() && home.is_absolute()).then_some(User {
        name: (*name).to_owned(),
        id: id.parse().ok()?,
        home,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_or_passed_over() {
        let text = "root:x:0:0:root:/root:/bin/bash\n# no\nbroken:x\nann:x:1000:1000:Ann,,:/home/ann:/bin/sh\n\
                    daemon:x:1:1::/usr/sbin:/usr/sbin/nologin\nrel:x:1001:1::home:/bin/sh\nslash:x:0:0::/:/bin/sh";
        let people: Vec<_> = users(text).into_iter().filter(User::is_person).map(|user| user.name).collect();
        assert_eq!(people, ["root", "ann"]);
        assert_eq!(users(text).len(), 4);
    }
}
