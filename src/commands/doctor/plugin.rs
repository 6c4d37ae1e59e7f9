//! The plugin in an agent's folder: whether it is the one that this gsh writes, and which gsh it asks.

use crate::policy::agents::PLUGIN;

/// What the plugin says of the gsh that it asks, before `gsh init` writes its own there.
const ASKED: &str = "\"gsh\"";

/// The gsh that a plugin with this text asks; None where it is not the text of this gsh.
pub(super) fn program(text: &str) -> Option<String> {
    let (head, tail) = PLUGIN?.split_once(ASKED)?;
    let asked = text.strip_prefix(head)?.strip_suffix(tail)?;
    serde_json::from_str(asked).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plugin_of_this_gsh_is_known() {
        let own = PLUGIN.expect("a plugin");
        assert_eq!(program(own).as_deref(), Some("gsh"));
        let written = own.replacen(ASKED, "\"/opt/my \\\"own\\\"/gsh\"", 1);
        assert_eq!(program(&written).as_deref(), Some("/opt/my \"own\"/gsh"));
        for other in [
            own.replacen("throw", "log", 1),
            format!("{own}\n"),
            own.replacen(ASKED, "\"gsh\" || \"true\"", 1),
            String::new(),
        ] {
            assert_eq!(program(&other), None, "{other}");
        }
    }
}
