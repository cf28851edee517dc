//! Mutated bytes through all that reads what a peer of CFEngine's protocol sends: whatever they
//! are, there is an answer and no panic, and what was read is written the same again.
//!
//! In an ordinary test run it takes a moment; `FX_FUZZ_SECONDS=1800 cargo test -p fx-wire --release
//! --test fuzz` runs as long as asked, `FX_FUZZ_SEED` starts elsewhere.

use std::time::{Duration, Instant};

use fx_fuzz::{Material, Random};
use fx_wire::cfengine::{
    Digest, Frames, Greeting, HostPort, LastSeen, PrivateKey, PublicKey, Request, Stat, classic,
    names, public_key_of, secret, user_of,
};

const MATERIAL: Material = Material {
    seeds: &[
        "t 31\0\0\0\0SYNCH 1794881877 STAT /srv/data",
        "t 23\0\0\0\0GET 2048 /srv/data/hard",
        "t 36\0\0\0\0MD5 /srv/data/hard\0\x000123456789abcdef",
        "t 17\0\0\0\0OPENDIR /srv/datat 12\0\0\0\0EXEC -Drole1",
        "m 7\0\0\0\0\0VERSIONt 9\0\0\0\0\0CFD_FALSE",
        "OK: 2 493 0 0 0 180 1794881875 1794881875 1794881875 1 109 3 41",
        "CFE_v3 cf-serverd 3.21.0\nIDENTITY USERNAME=root\nOK WELCOME USERNAME=root\n",
        ".\0..\0a\0b\0---cfXen/gine/cfXen/gine---\0\0",
        "CAUTH 127.0.0.1 localhost root 0",
        "SAUTH n 37 37 c\0\0\0\0\0\0\0\0\0\0\0\0\0!\0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "SSYNCH 32\0\0\0\0\0\0\0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "Version: 1.0\nEncrypted-for: MD5=617eb383deffef843ea856b129d0a423\n\n0123456789abcdef",
        "-----BEGIN RSA PUBLIC KEY-----\nMAYCAQECAQM=\n-----END RSA PUBLIC KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\nDEK-Info: DES-EDE3-CBC,0011223344556677\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
        "0\x05\x02\x01\x010\x0d\x06",
        "MD5=617eb383deffef843ea856b129d0a423",
        "[fe80::1]:5308",
    ],
    pieces: &[
        "t ", "m ", "\0", " ", "\n", "-", "/", "..", ":", "=", "0", "9", "\x30\x03", "\x02\x01",
        "BAD: ", "OK:",
    ],
    most_in_a_row: 300,
    longest: 20_000,
};

fn read_all(bytes: &[u8]) -> usize {
    let mut frames = Frames::default();
    let mut seen = 0;
    for piece in bytes.chunks(97) {
        frames.feed(piece);
        while let Ok(Some(frame)) = frames.next() {
            seen += frame.payload.len();
            if let Ok(request) = Request::parse(&frame.payload) {
                assert_eq!(Request::parse(&request.payload()).as_ref(), Ok(&request));
            }
        }
    }
    if let Some(stat) = Stat::parse(bytes) {
        assert!(Stat::parse(stat.line().as_bytes()).is_some());
    }
    let mut listed = Vec::new();
    names(bytes, &mut listed);
    seen += listed.len() + usize::from(Greeting::parse(bytes).is_some());
    seen += user_of(bytes).map_or(0, |user| user.len());
    seen += usize::from(classic::Claim::parse(bytes).is_some());
    seen += usize::from(classic::Challenge::parse(bytes).is_some());
    seen += usize::from(classic::open(&[7; 16], bytes).is_some());
    seen += classic::read_number(bytes).map_or(0, <[u8]>::len);
    seen += usize::from(secret::Headers::parse(bytes).is_ok());
    seen += usize::from(public_key_of(bytes).is_ok());
    seen += usize::from(PublicKey::from_der(bytes).is_ok());
    seen += usize::from(LastSeen::from_bytes(bytes).is_ok());
    let text = String::from_utf8_lossy(bytes);
    seen += usize::from(PublicKey::from_pem(&text).is_ok());
    seen += usize::from(PrivateKey::from_pem(&text).is_ok());
    seen += usize::from(Digest::parse(&text).is_some());
    seen + HostPort::parse(&text).to_string().len()
}

#[test]
fn whatever_a_peer_sends_is_answered() {
    let (seconds, seed) = fx_fuzz::asked();
    let mut random = Random::new(seed);
    let began = Instant::now();
    let (mut tried, mut seen) = (0_u64, 0);
    while tried < 3000 || began.elapsed() < Duration::from_secs(seconds) {
        let seeds = MATERIAL.seeds;
        let mut bytes = seeds[random.below(seeds.len())].as_bytes().to_vec();
        for _ in 0..1 + random.below(12) {
            MATERIAL.mutate(&mut random, &mut bytes);
        }
        seen += read_all(&bytes);
        tried += 1;
    }
    assert!(seen > 0, "nothing was read in {tried} tries from seed {seed}");
}
