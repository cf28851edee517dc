//! Whether a step may change the machine. An argument of each step, never a global flag:
//! all three originals decide it per action.

/// What a step does with the changes it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Makes them.
    #[default]
    Apply,
    /// Reports them and touches nothing.
    Rehearse,
}

/// Why a step is taken at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Purpose {
    /// For its own sake: it counts.
    #[default]
    Act,
    /// To say something: it counts, but the machine stays as it is.
    Tell,
    /// To learn whether something would change (a before-notification): not counted.
    Probe,
}
