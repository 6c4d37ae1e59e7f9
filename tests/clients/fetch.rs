//! The packages, by npm. Nothing of them is run by that.

use std::fs;
use std::io;
use std::process::{Command, ExitCode, Stdio};

use super::table::{Client, clients, names};

/// What one package may take.
const SECONDS: &str = "600";

/// Gets what is not here, one after the other.
pub(crate) fn all(words: &[String]) -> ExitCode {
    let mut missing = 0;
    for client in clients().iter().filter(|client| super::chosen(words, &client.name, &names())) {
        let got = client.is_here() || get(client).is_ok_and(|done| done && client.is_here());
        println!(
            "{} {} {}",
            if got { "here" } else { "**** NOT TO BE HAD:" },
            client.package,
            client.version
        );
        missing += i32::from(!got);
    }
    if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn get(client: &Client) -> io::Result<bool> {
    let folder = client.folder();
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("package.json"), "{\"private\":true}")?;
    let mut npm = Command::new("timeout");
    npm.args([SECONDS, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    npm.arg(format!("{}@{}", client.package, client.version)).current_dir(folder).stdin(Stdio::null());
    Ok(npm.status()?.success())
}
