//! A pseudo-terminal with a program on it.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, channel};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// A program on a terminal of its own.
pub(crate) struct Terminal {
    /// All that it writes, as it comes.
    pub(crate) output: Receiver<Vec<u8>>,
    /// What is typed.
    pub(crate) keys: Box<dyn Write + Send>,
    /// Held so that the terminal outlives the program.
    pub(crate) leader: Box<dyn MasterPty + Send>,
    pub(crate) child: Box<dyn Child + Send + Sync>,
}

impl Terminal {
    /// Starts a command on one of this size.
    pub(crate) fn start(command: CommandBuilder, columns: u16, rows: u16) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let child = pair.slave.spawn_command(command).expect("the program starts");
        let mut reader = pair.master.try_clone_reader().expect("its output");
        let keys = pair.master.take_writer().expect("its input");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length) = reader.read(&mut chunk) {
                if length == 0 || sender.send(chunk[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { output, keys, leader: pair.master, child }
    }
}
