//! The `gsh` program: everything is in the library.

fn main() -> std::process::ExitCode {
    gsh::main()
}
