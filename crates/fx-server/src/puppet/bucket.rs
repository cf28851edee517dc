//! The file bucket: contents that nodes keep before they change a file.

use fx_crypto::digest::Algorithm;
use fx_wire::puppet::Format;

use super::Answer;
use crate::app::App;
use crate::message::{Issue, Reply, Request};

/// The digest by which contents are kept.
const DIGEST: Algorithm = Algorithm::Sha256;

/// A content by its digest, and the path that it was found at.
fn address(parts: &[String]) -> Result<(String, Option<String>), Reply> {
    let [kind, sum, path @ ..] = parts else {
        return Err(Reply::issue(Issue::BadRequest, "the path names no digest"));
    };
    if kind != DIGEST.name() {
        let text = format!("Unsupported digest {kind}: contents are kept by {}", DIGEST.name());
        return Err(Reply::issue(Issue::Failed, &text));
    }
    if sum.len() != 64 || !sum.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(Reply::issue(Issue::BadRequest, "the digest is not sound"));
    }
    let path = path.iter().filter(|part| !part.is_empty());
    let path = path.map(String::as_str).collect::<Vec<_>>().join("/");
    Ok((sum.clone(), (!path.is_empty()).then_some(path)))
}

impl App {
    pub(crate) fn bucket_get(&self, parts: &[String]) -> Answer {
        let (sum, path) = address(parts)?;
        let blob = self.parts.fleet.blob(&sum).map_err(|error| self.store_failed(&error))?;
        let blob = blob.filter(|blob| path.is_none_or(|path| blob.paths.contains(&path)));
        match blob {
            Some(blob) => Ok(Reply::data(Format::Binary, blob.content)),
            None => {
                let text = format!("Could not find file_bucket_file {}/{sum}", DIGEST.name());
                Err(Reply::issue(Issue::NotFound, &text))
            }
        }
    }

    pub(crate) fn bucket_put(&self, parts: &[String], request: &Request) -> Answer {
        let (_, path) = address(parts)?;
        if request.head.field("content-type") != Some("application/octet-stream") {
            let text = "Client sent a mime-type that doesn't correspond to a format we support";
            return Err(Reply::issue(Issue::UnsupportedMedia, text));
        }
        // The content says what its digest is, not the client.
        let sum = DIGEST.hex(&request.body);
        let saved = self.parts.fleet.save_blob(&sum, &request.body, path.as_deref());
        saved.map_err(|error| self.store_failed(&error))?;
        Ok(Reply::data(Format::Binary, Vec::new()))
    }
}
