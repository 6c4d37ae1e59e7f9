//! Ending processes by a control group of our own: what is once in it cannot fork away from it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::proc::Process;
use super::{fault, tree};

/// So many looks for processes that are not in it yet.
const LOOKS: usize = 64;

/// A new control group, below the one that this process is in; removed with the value.
#[derive(Debug)]
pub struct Group(PathBuf);

impl Group {
    /// Makes one, where the kernel can end a whole group (5.14) and ours may be divided by us.
    ///
    /// # Errors
    /// When there is no unified hierarchy, or it belongs to somebody else.
    pub fn new() -> io::Result<Self> {
        if fault::forbids("control groups") {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mine = fs::read_to_string("/proc/self/cgroup")?;
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let parent = place(&mine, &mounts).ok_or(io::ErrorKind::Unsupported)?;
        let path = parent.join(format!("gsh-{}", std::process::id()));
        fs::create_dir(&path)?;
        let group = Self(path);
        // An older kernel has no such file, and the group is removed again.
        fs::metadata(group.0.join("cgroup.kill"))?;
        Ok(group)
    }

    /// Ends everything below this process: it is moved into the group until nothing is outside, and then ended
    /// at once, by the kernel. What starts meanwhile starts inside.
    ///
    /// # Errors
    /// When something could not be moved; what was moved has been ended.
    pub fn end_below(&self, root: i32) -> io::Result<()> {
        let mut left = Ok(());
        for _ in 0..LOOKS {
            let inside = self.members();
            let outside: Vec<Process> = tree::below(root)
                .into_iter()
                .filter(|process| !process.is_dead() && !inside.contains(&process.pid))
                .collect();
            left = Ok(());
            for process in &outside {
                let moved = fs::write(self.0.join("cgroup.procs"), process.pid.to_string());
                // One that has ended meanwhile needs no moving.
                if tree::is_alive(process.pid, process.started) {
                    left = left.and(moved);
                }
            }
            if outside.is_empty() {
                break;
            }
        }
        fs::write(self.0.join("cgroup.kill"), "1")?;
        left
    }

    fn members(&self) -> Vec<i32> {
        let list = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        list.lines().filter_map(|pid| pid.parse().ok()).collect()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Not while somebody is in it; it is empty, then, of anything that we could still end.
        let _still_in_use = fs::remove_dir(&self.0);
    }
}

/// The folder of our own group in the unified hierarchy.
fn place(mine: &str, mounts: &str) -> Option<PathBuf> {
    let own = mine.lines().find_map(|line| line.strip_prefix("0::"))?;
    let (root, mount) = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        after.starts_with("cgroup2 ").then_some((fields.next()?, fields.next()?))
    })?;
    // What is mounted may be a part of the hierarchy (in a container).
    let below = Path::new(own).strip_prefix(root).ok()?;
    Some(Path::new(mount).join(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_our_group_is() {
        let mounts = "25 30 0:23 / /sys rw - sysfs sysfs rw\n\
                      36 25 0:32 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
        let hybrid = "41 25 0:33 /box /sys/fs/cgroup/unified rw - cgroup2 none rw\n";
        let table = [
            ("0::/user.slice/a.scope\n", mounts, Some("/sys/fs/cgroup/user.slice/a.scope")),
            ("9:name=systemd:/\n0::/\n", mounts, Some("/sys/fs/cgroup/")),
            ("0::/box/a\n", hybrid, Some("/sys/fs/cgroup/unified/a")),
            ("0::/other\n", hybrid, None),
            ("9:cpu:/\n", mounts, None),
            ("0::/\n", "", None),
        ];
        for (mine, all, expected) in table {
            assert_eq!(place(mine, all), expected.map(PathBuf::from), "{mine}");
        }
    }
}
