//! How a client and a server of the old form convince each other.

use fx_crypto::Random;
use fx_wire::cfengine::classic::{
    ACCEPTED, Challenge, Claim, SessionKey, TRUSTED, key_payloads, nonce, proof, read_key,
};
use fx_wire::cfengine::{KeyError, PublicKey};

use super::Lost;
use super::connection::Wish;
use super::transport::Transport;

fn broken(error: KeyError) -> Lost {
    Lost::Broken(error.to_string())
}

/// The dialogue; the key of the server and that of the session.
pub(super) fn authenticate(
    transport: &mut Transport,
    wish: &mut Wish<'_>,
    trusts: &mut dyn FnMut(&PublicKey) -> bool,
) -> Result<(PublicKey, SessionKey), Lost> {
    let address = transport.local_address();
    let claim = Claim { address, host: wish.host.to_owned(), user: wish.user.to_owned() };
    transport.send(&claim.payload())?;
    let own = nonce(wish.random);
    let text = match &wish.known {
        Some(key) => key.encrypt(&own, Random(wish.random)).map_err(broken)?,
        None => own.clone(),
    };
    let challenge = Challenge { encrypted: wish.known.is_some(), nonce_length: own.len(), text };
    transport.send(&challenge.payload())?;
    for payload in key_payloads(wish.key.public()) {
        transport.send(&payload)?;
    }
    let verdict = transport.frame()?.payload;
    if !verdict.starts_with(ACCEPTED) && !verdict.starts_with(TRUSTED) {
        return Err(Lost::Identity(String::from_utf8_lossy(&verdict).into_owned()));
    }
    if transport.frame()?.payload != proof(&own) {
        return Err(Lost::Broken("Challenge response from server was incorrect!".into()));
    }
    let counter = transport.frame()?.payload;
    let counter = wish.key.decrypt(&counter, Random(wish.random)).map_err(broken)?;
    let key = match wish.known.take() {
        Some(key) => key,
        None => {
            let (modulus, exponent) = (transport.frame()?.payload, transport.frame()?.payload);
            read_key(&modulus, &exponent).map_err(broken)?
        }
    };
    if !trusts(&key) {
        return Err(Lost::Untrusted(Box::new(key)));
    }
    transport.send(&proof(&counter))?;
    let mut session: SessionKey = [0; 16];
    (wish.random)(&mut session);
    transport.send(&key.encrypt(&session, Random(wish.random)).map_err(broken)?)?;
    Ok((key, session))
}
