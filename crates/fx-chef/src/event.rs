//! What happens in a client run and only Chef knows, as data. Formatters make lines of it.

use crate::actions::Skip;

/// Heading and text of each part of a failure's explanation.
pub(crate) type Sections = Vec<(String, String)>;

/// One happening, borrowed for the time of the call. Texts that come from policy are masked.
pub(crate) enum Event<'a> {
    RunStarted,
    /// A client without a key introduces itself to the server.
    Registering {
        name: &'a str,
    },
    PolicyLoaded {
        name: &'a str,
        revision: &'a str,
    },
    CookbooksResolving {
        run_list: &'a str,
    },
    CookbooksSynchronized {
        /// Name and version of each.
        cookbooks: &'a [(String, String)],
    },
    Compiling,
    ComplianceLoading,
    Converging {
        resources: i64,
        /// Files that were loaded before.
        loaded: usize,
    },
    Converged {
        failed: bool,
    },
    HandlersStarted,
    HandlerRan {
        name: &'a str,
    },
    HandlersCompleted,
    /// A failure that belongs to no resource.
    LoadFailed {
        title: &'a str,
        sections: &'a Sections,
    },
    RunEnded(&'a Ended<'a>),
    /// The exception that ended the run; the log has it already.
    RunFailed {
        class: &'a str,
        message: &'a str,
    },

    /// An action of a resource begins; what comes until its end belongs to it.
    ActionStarted {
        row: usize,
        resource: &'a str,
        action: &'a str,
        /// The recipe that declares it, unless it is part of another resource.
        recipe: Option<&'a str>,
    },
    /// One change was made or would be: what it is, then what belongs to it.
    Applied {
        lines: &'a [String],
        /// It is only found out what would be done, for a notification that comes before.
        probe: bool,
    },
    /// Something that the action needs is missing, or is taken for granted.
    Requirement {
        text: &'a str,
    },
    /// A command of the action prints something.
    Output {
        row: usize,
        name: &'a str,
        text: &'a str,
    },
    ActionUpdated,
    ActionUpToDate {
        row: usize,
        /// It is not worth a word.
        quiet: bool,
    },
    ActionSkipped {
        row: usize,
        skip: &'a Skip,
    },
    /// The provider cannot rehearse.
    ActionBypassed {
        row: usize,
        provider: &'a str,
    },
    ActionFailed {
        /// Title and explanation, unless the failure is to be quiet.
        report: Option<(&'a str, &'a Sections)>,
    },
    ActionEnded,
}

/// What the last line of a run is made of.
pub(crate) struct Ended<'a> {
    pub(crate) failed: bool,
    pub(crate) why_run: bool,
    pub(crate) updated: usize,
    pub(crate) total: usize,
    pub(crate) seconds: u64,
    pub(crate) deprecations: &'a [String],
}
