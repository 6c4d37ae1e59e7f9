//! Places where tests end the process as a power cut would, to show that no half-done step is an allow.

/// The variable that names a file with the place to die at, in builds for tests.
#[cfg(debug_assertions)]
const NAME: &str = "GSH_TEST_FAULT";

/// Ends this process without any further step, where a build for tests is told to. A released gsh has
/// no such places.
pub fn point(_name: &str) {
    #[cfg(debug_assertions)]
    if std::env::var_os(NAME)
        .and_then(|file| std::fs::read_to_string(file).ok())
        .is_some_and(|at| at == _name)
    {
        let _cannot_fail = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
    }
}
