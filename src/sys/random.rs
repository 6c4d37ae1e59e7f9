//! Bytes that nobody can foresee.

use std::io;

use super::raw;

/// Fills all of it, by the kernel's call alone. In a program without dynamic linking the usual crate does not find the
/// C library's function and keeps a descriptor of `/dev/urandom` open instead; a helper of ours that closes what it
/// does not know would then read from whatever has that number next.
///
/// # Errors
/// When the kernel has no such call.
pub fn fill(bytes: &mut [u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let length = raw::random(rest)?;
        rest = rest.get_mut(length..).unwrap_or_default();
    }
    Ok(())
}

/// So many of them in hexadecimal digits: a word that nobody can foresee.
///
/// # Errors
/// When the kernel has no such call.
pub fn word<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0_u8; BYTES];
    fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_is_filled() {
        let (mut one, mut other) = ([0; 300], [0; 300]);
        fill(&mut one).expect("bytes");
        fill(&mut other).expect("bytes");
        assert!(one != other && one.iter().filter(|byte| **byte == 0).count() < 30);
        assert!(one.get(292..) != Some(&[0; 8][..]));
    }
}
