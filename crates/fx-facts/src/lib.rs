//! What the machine is: one neutral snapshot, each part probed when first asked for.
//!
//! The shapes of Facter, Ohai and CFEngine's `sys` are views that live with their
//! languages; here every fact is plain and named once. A probe has a time limit, and what
//! could not be learned in time is listed in [`Facts::problems`].

#![forbid(unsafe_code)]

mod snapshot;
mod probe;
mod text;

pub use probe::cpu::Cpu;
pub use probe::disk::{Disk, Mount};
pub use probe::memory::Memory;
pub use probe::network::{Network, node_name};
pub use probe::os::Os;
pub use probe::software::Software;
pub use probe::time::{Timezone, Uptime};
pub use probe::user::Identity;
pub use probe::virt::Virtualization;
pub use snapshot::{Facts, Problem};
