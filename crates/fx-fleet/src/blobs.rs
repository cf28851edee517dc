//! Contents by their digest, with the paths that they were found at.

use crate::Fleet;
use crate::engine::Result;

/// A content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub content: Vec<u8>,
    /// Sorted.
    pub paths: Vec<String>,
}

impl Fleet {
    /// Keeps a content; the digest is the caller's to compute.
    pub fn save_blob(&self, digest: &str, content: &[u8], path: Option<&str>) -> Result<()> {
        self.write(|sql| {
            sql.run(
                "INSERT INTO blob (digest, content) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                &[digest.into(), content.into()],
            )?;
            if let Some(path) = path {
                sql.run(
                    "INSERT INTO blob_path (digest, path) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    &[digest.into(), path.into()],
                )?;
            }
            Ok(())
        })
    }

    pub fn blob(&self, digest: &str) -> Result<Option<Blob>> {
        self.read(|sql| {
            let row = sql.row("SELECT content FROM blob WHERE digest = $1", &[digest.into()])?;
            let Some(mut row) = row else { return Ok(None) };
            let paths = sql.rows(
                "SELECT path FROM blob_path WHERE digest = $1 ORDER BY path",
                &[digest.into()],
            )?;
            let paths = paths.into_iter().map(|mut row| row.text()).collect::<Result<_>>()?;
            Ok(Some(Blob { content: row.bytes()?, paths }))
        })
    }
}
