//! Places where tests end the process as a power cut would, to show that no half-done step is an allow.

/// The variable that names a file with the place to die at, in builds for tests.
#[cfg(debug_assertions)]
const NAME: &str = "GSH_TEST_FAULT";

/// How long something may take: in builds for tests as long as is told there, in milliseconds.
#[must_use]
pub fn patience(real: std::time::Duration) -> std::time::Duration {
    #[cfg(debug_assertions)]
    if let Some(told) = std::env::var("GSH_TEST_PATIENCE").ok().and_then(|told| told.parse().ok()) {
        return std::time::Duration::from_millis(told);
    }
    real
}

/// Whether a build for tests is told to do without this. A released gsh never is.
#[must_use]
pub fn forbids(_name: &str) -> bool {
    #[cfg(debug_assertions)]
    return std::env::var_os(NAME)
        .and_then(|file| std::fs::read_to_string(file).ok())
        .is_some_and(|word| word == _name);
    #[cfg(not(debug_assertions))]
    false
}

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
