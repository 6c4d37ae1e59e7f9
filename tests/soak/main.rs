//! Thousands of commands from several callers at once, many of them cut short: afterwards nothing may be left
//! of any. `GSH_SOAK=10000 cargo test --release --test soak` runs so many; without a number nothing runs.

mod after;
mod callers;
mod kinds;

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use callers::Callers;

/// How many callers call at the same time.
const AT_ONCE: usize = 8;

fn main() -> ExitCode {
    let count = std::env::var("GSH_SOAK").ok().and_then(|count| count.parse::<usize>().ok());
    let Some(count) = count.filter(|_| !std::env::args().any(|argument| argument == "--list")) else {
        println!("**** SOAK SKIPPED: GSH_SOAK=N runs so many commands ****");
        return ExitCode::SUCCESS;
    };
    let wrong = soak(count);
    for each in wrong.iter().take(40) {
        println!("WRONG: {each}");
    }
    println!("{} wrong", wrong.len());
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs so many commands; what was wrong.
fn soak(count: usize) -> Vec<String> {
    let callers = Callers::new();
    let descriptors = after::descriptors();
    let begun = Instant::now();
    let next = AtomicUsize::new(0);
    let caller = || {
        let mut wrong = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return wrong;
            }
            wrong.extend(kinds::run(&callers, number).err());
        }
    };
    let mut wrong: Vec<String> = std::thread::scope(|scope| {
        let reaping = scope.spawn(|| callers.reap_until(|| next.load(Ordering::Relaxed) >= count + AT_ONCE));
        let hands: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(caller)).collect();
        let wrong = hands.into_iter().flat_map(|hand| hand.join().expect("it ends")).collect();
        let orphans = reaping.join().expect("it ends");
        println!("{orphans} orphans came to the callers meanwhile");
        wrong
    });
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{count} commands of {AT_ONCE} callers in {seconds:.1} s: {:.0} a second",
        count as f64 / seconds
    );
    println!("{}", kinds::counts(count));
    wrong.extend(callers.wait_for_the_last(Duration::from_secs(60)));
    wrong.extend(after::everything(&callers, count, descriptors));
    wrong
}
