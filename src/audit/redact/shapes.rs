//! Secrets that are known by their own form: tokens of services, credentials in addresses, private keys.

use std::ops::Range;

use super::names::{Strength, is_expansion, is_harmless, is_random};

/// How tokens begin, and how many characters follow at least.
const TOKENS: &[(&str, usize)] = &[
    ("ABSK", 60),
    ("AGE-SECRET-KEY-1", 20),
    ("AIza", 30),
    ("AKIA", 16),
    ("AQVN", 35),
    ("ASIA", 16),
    ("ATATT3x", 20),
    ("ATBB", 24),
    ("ATCTT3x", 20),
    ("CFPAT-", 20),
    ("EAACEdEose0cBA", 20),
    ("EZAK", 40),
    ("EZTK", 40),
    ("GOCSPX-", 20),
    ("NRAK-", 20),
    ("PMAK-", 20),
    ("SG.", 30),
    ("ctx7sk-", 20),
    ("dapi", 32),
    ("dckr_pat_", 20),
    ("dnkey-", 20),
    ("doo_v1_", 30),
    ("dop_v1_", 30),
    ("dor_v1_", 30),
    ("dp.ct.", 20),
    ("dp.pt.", 20),
    ("dp.st.", 20),
    ("dt0c01.", 40),
    ("duffel_live_", 20),
    ("e2b_", 30),
    ("figd_", 20),
    ("figo_", 20),
    ("fio-u-", 20),
    ("fo1_", 30),
    ("gho_", 20),
    ("ghp_", 20),
    ("ghr_", 20),
    ("ghs_", 20),
    ("ghu_", 20),
    ("github_pat_", 20),
    ("glagent-", 16),
    ("glc_", 30),
    ("glcbt-", 16),
    ("gldt-", 16),
    ("glft-", 16),
    ("glimt-", 16),
    ("gloas-", 20),
    ("glpat-", 16),
    ("glptt-", 16),
    ("glrt-", 16),
    ("glsa_", 20),
    ("glsoat-", 16),
    ("gsk_", 20),
    ("hf_", 20),
    ("hvb.", 20),
    ("hvr.", 20),
    ("hvs.", 20),
    ("key-", 32),
    ("lin_api_", 20),
    ("live_sk_", 20),
    ("lsv2_pt_", 30),
    ("lsv2_sk_", 30),
    ("nfp_", 20),
    ("npm_", 30),
    ("ntn_", 30),
    ("nvapi-", 30),
    ("ops_", 30),
    ("pat-eu1-", 30),
    ("pat-na1-", 30),
    ("phx_", 30),
    ("pk_live_", 16),
    ("pplx-", 20),
    ("pscale_oauth_", 20),
    ("pscale_pw_", 20),
    ("pscale_tkn_", 20),
    ("pul-", 30),
    ("pypi-", 30),
    ("r8_", 20),
    ("rk_live_", 16),
    ("rk_test_", 16),
    ("rpa_", 30),
    ("rubygems_", 20),
    ("sb_secret_", 20),
    ("sbp_", 20),
    ("sgp_", 40),
    ("shpat_", 20),
    ("shpca_", 20),
    ("shppa_", 20),
    ("shpss_", 20),
    ("shptka_", 20),
    ("sk-", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("sntrys_", 30),
    ("sntryu_", 30),
    ("sq0atp-", 16),
    ("sq0csp-", 20),
    ("tfp_", 30),
    ("tskey-", 16),
    ("tvly-", 20),
    ("vercel_", 20),
    ("waka_", 30),
    ("whsec_", 20),
    ("xai-", 20),
    ("xapp-", 20),
    ("xkeysib-", 40),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxd-", 20),
    ("xoxe-", 20),
    ("xoxe.xox", 20),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("ya29.", 20),
];

/// Addresses whose path is the secret.
const WEBHOOKS: &[&str] =
    &["hooks.slack.com/services/", "discord.com/api/webhooks/", "webhook.office.com/webhookb2/"];

/// Where they stand.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    private_keys(text, found);
    addresses(text, found);
    webhooks(text, found);
    let mut before = b' ';
    for (at, byte) in text.bytes().enumerate() {
        if byte.is_ascii_alphanumeric() && !before.is_ascii_alphanumeric() && before != b'_' {
            found.extend(token(text, at));
        }
        before = byte;
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn run(text: &str, start: usize, test: fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    start + rest.iter().position(|byte| !test(*byte)).unwrap_or(rest.len())
}

/// A token that begins here.
fn token(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let end = run(text, at, is_token_byte);
    let word = text.get(at..end)?.trim_end_matches('.');
    let end = at + word.len();
    if let Some((_, least)) = TOKENS.iter().find(|(head, _)| rest.starts_with(head)) {
        let digits = word.bytes().any(|byte| byte.is_ascii_digit());
        return (digits && word.len() >= *least).then_some(at..end);
    }
    if word.starts_with("eyJ") && word.len() > 24 && word.contains('.') {
        return Some(at..end);
    }
    bot(text, at)
}

/// A chat bot's token: its number, a colon, 30 characters and more.
fn bot(text: &str, at: usize) -> Option<Range<usize>> {
    let start = if text.get(at..)?.starts_with("bot") { at + 3 } else { at };
    let digits = run(text, start, |byte| byte.is_ascii_digit());
    if !(7..=12).contains(&(digits - start)) || text.as_bytes().get(digits) != Some(&b':') {
        return None;
    }
    let end = run(text, digits + 1, |byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    (end - digits > 30).then_some(start..end)
}

/// From the line that begins a private key to the one that ends it.
fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("-----BEGIN ")) {
        let start = from + at;
        let head = text.get(start + 11..).unwrap_or_default();
        let Some(name) = head.find("-----").filter(|length| *length < 40) else { return };
        from = start + 11 + name;
        if head.get(..name).is_some_and(|name| name.contains("PRIVATE KEY")) {
            let rest = text.get(from + 5..).unwrap_or_default();
            let end = rest.find("-----END ").map_or(text.len(), |end| from + 5 + end);
            found.push(from + 5..end);
            from = end;
        }
    }
}

/// `scheme://user:password@host`.
fn addresses(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("://")) {
        let start = from + at + 3;
        from = start;
        let end = run(text, start, |byte| {
            !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'|' | b';') && byte > b' '
        });
        // A password may hold what should have been written as a code.
        let far = run(text, start, |byte| !matches!(byte, b'"' | b'\'' | b'`') && byte > b' ');
        let place = text.get(start..end).unwrap_or_default();
        let sign = place.rfind('@').or_else(|| {
            let far = text.get(start..far).unwrap_or_default();
            let colon = far.find(':')?;
            let port = far.get(colon + 1..)?.starts_with(|c: char| c.is_ascii_digit());
            far.find('@')
                .filter(|sign| colon < *sign && !(port && far.get(..*sign).is_some_and(|f| f.contains('/'))))
        });
        let Some(sign) = sign else { continue };
        let who = text.get(start..start + sign).unwrap_or_default();
        match who.split_once(':') {
            Some((_, secret)) if is_harmless(secret, Strength::Strong) => {}
            Some((user, _)) => {
                found.push(start + user.len() + 1..start + sign);
                if is_random(user) {
                    found.push(start..start + user.len());
                }
            }
            None if is_random(who) && !is_expansion(who) => found.push(start..start + sign),
            None => {}
        }
    }
}

fn webhooks(text: &str, found: &mut Vec<Range<usize>>) {
    for host in WEBHOOKS {
        for (at, _) in text.match_indices(host) {
            let start = at + host.len();
            let end = run(text, start, |byte| is_token_byte(byte) || matches!(byte, b'/' | b'@'));
            if end > start {
                found.push(start..end);
            }
        }
    }
}
