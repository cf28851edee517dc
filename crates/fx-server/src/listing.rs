//! A list of files as it is sent, plain and packed. Agents want the same long lists in each run:
//! whoever has one can hand it to all of them.

use fx_wire::puppet::Metadata;
use hyper::body::Bytes;
use serde_json::Value;

use crate::packed;

/// The list; copies share the bytes.
#[derive(Clone, Debug)]
pub struct Listing {
    pub(crate) plain: Bytes,
    /// Nothing where packing is not worth it.
    pub(crate) packed: Option<Bytes>,
}

impl Listing {
    pub fn of(files: &[Metadata]) -> Listing {
        let list = Value::Array(files.iter().map(Metadata::to_json).collect());
        let plain = Bytes::from(list.to_string());
        let packed = packed::gzip(&plain);
        Listing { plain, packed }
    }
}
