//! The dialogue of the old form by which both sides show that they have their keys.

use fx_crypto::Random;
use fx_wire::cfengine::classic::{
    self, ACCEPTED, BLOCK, Challenge, Claim, SessionKey, TRUSTED, UNTRUSTED, key_payloads, nonce,
    proof, read_key,
};
use fx_wire::cfengine::{PublicKey, REFUSAL};

use super::session::{Next, Output, Session};
use super::site::{Importance, Opened, Trust};

/// How far the dialogue is.
pub(super) enum Stage {
    Claim,
    Challenge,
    Modulus(Challenge),
    Exponent(Challenge, Vec<u8>),
    Proof { key: Box<PublicKey>, expected: Vec<u8> },
    SessionKey { key: Box<PublicKey> },
    Done,
}

impl Session {
    pub(super) fn is_authenticated(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// Takes the dialogue one transaction further.
    pub(super) fn authenticate(&mut self, payload: &[u8], out: &mut dyn Output) -> Next {
        let stage = std::mem::replace(&mut self.stage, Stage::Claim);
        match self.further(stage, payload, out) {
            Some(stage) => {
                self.stage = stage;
                Next::Continue
            }
            None => {
                self.log(Importance::Info, "Auth dialogue error");
                out.frame(false, REFUSAL);
                Next::Close
            }
        }
    }

    fn further(&mut self, stage: Stage, payload: &[u8], out: &mut dyn Output) -> Option<Stage> {
        match stage {
            Stage::Claim => {
                let claim = Claim::parse(payload)?;
                self.peer.user = claim.user;
                // Names are as claimed here; they are compared where addresses are not enough.
                if self.peer.name.is_none() {
                    self.peer.name = self.site.name_of(&self.peer.address);
                }
                Some(Stage::Challenge)
            }
            Stage::Challenge => Challenge::parse(payload).map(Stage::Modulus),
            Stage::Modulus(challenge) => Some(Stage::Exponent(challenge, payload.to_vec())),
            Stage::Exponent(challenge, modulus) => {
                let key = read_key(&modulus, payload).ok()?;
                self.answer_challenge(&challenge, key, out)
            }
            Stage::Proof { key, expected } => {
                (payload == expected).then_some(Stage::SessionKey { key })
            }
            Stage::SessionKey { key } => {
                let site = std::sync::Arc::clone(&self.site);
                let mut random = |buffer: &mut [u8]| site.random(buffer);
                let opened = site.key().decrypt(payload, Random(&mut random)).ok()?;
                self.session_key = Some(opened.get(..16)?.try_into().ok()?);
                self.peer.key = key.digest().to_string();
                self.site.saw(&key, &self.peer.address);
                Some(Stage::Done)
            }
            Stage::Done => None,
        }
    }

    fn answer_challenge(
        &self,
        challenge: &Challenge,
        key: PublicKey,
        out: &mut dyn Output,
    ) -> Option<Stage> {
        let site = std::sync::Arc::clone(&self.site);
        let mut random = |buffer: &mut [u8]| site.random(buffer);
        let may_trust = self.rules.control.trusts_from(&self.peer.address);
        let verdict = match site.trust(&self.peer.user, &key, may_trust) {
            Trust::Known => ACCEPTED,
            Trust::New => TRUSTED,
            Trust::Refused => {
                out.frame(false, UNTRUSTED);
                return None;
            }
        };
        let number = challenge.open(site.key(), Random(&mut random)).ok()?;
        out.frame(false, verdict);
        out.frame(false, &proof(&number));
        let counter = nonce(&mut random);
        let shut = key.encrypt(&counter, Random(&mut random)).ok()?;
        out.frame(false, &shut);
        if !challenge.encrypted {
            for payload in key_payloads(site.key().public()) {
                out.frame(false, &payload);
            }
        }
        Some(Stage::Proof { key: Box::new(key), expected: proof(&counter) })
    }
}

/// Sends a file in blocks that are encrypted each by itself.
pub(super) fn send_encrypted(opened: &mut Opened, key: &SessionKey, out: &mut dyn Output) -> bool {
    let mut left = opened.stat.size;
    let mut buffer = vec![0; BLOCK];
    loop {
        let most = left.min(BLOCK as u64) as usize;
        if opened.content.read_exact(&mut buffer[..most]).is_err() {
            return false;
        }
        left -= most as u64;
        out.frame(left > 0, &classic::encrypt(key, &buffer[..most]));
        if left == 0 {
            return true;
        }
    }
}
