//! Names for what can be requested of a machine, shared by the fake's fault injection and by
//! the recorder. It does nothing itself.

/// One kind of request to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are those of the trait methods")]
pub enum Operation {
    Stat,
    Lstat,
    Read,
    Open,
    ReadLink,
    List,
    RealPath,
    Space,
    Xattrs,
    Xattr,
    Write,
    Append,
    MakeDir,
    MakeFifo,
    RemoveFile,
    RemoveDir,
    Rename,
    Symlink,
    HardLink,
    SetMode,
    SetOwner,
    SetTimes,
    SetXattr,
    Settle,
    Commit,
    Run,
    Start,
    Signal,
    FindProgram,
    Account,
    Http,
    Network,
    Variable,
}

impl Operation {
    /// Whether it changes files. Commands are not counted: what they do is not known.
    pub fn changes_files(self) -> bool {
        matches!(
            self,
            Operation::Write
                | Operation::Append
                | Operation::MakeDir
                | Operation::MakeFifo
                | Operation::RemoveFile
                | Operation::RemoveDir
                | Operation::Rename
                | Operation::Symlink
                | Operation::HardLink
                | Operation::SetMode
                | Operation::SetOwner
                | Operation::SetTimes
                | Operation::SetXattr
        )
    }

    /// Whether it may have an effect: a change of files, a command, a signal.
    pub fn is_effect(self) -> bool {
        self.changes_files()
            || matches!(self, Operation::Run | Operation::Start | Operation::Signal)
    }

    /// The verb used in messages.
    pub fn verb(self) -> &'static str {
        match self {
            Operation::Stat | Operation::Lstat => "stat",
            Operation::Read => "read",
            Operation::Open => "open",
            Operation::ReadLink => "read link",
            Operation::List => "list",
            Operation::RealPath => "resolve",
            Operation::Space => "measure",
            Operation::Xattrs | Operation::Xattr => "read attributes of",
            Operation::Write => "write",
            Operation::Append => "append to",
            Operation::MakeDir => "create directory",
            Operation::MakeFifo => "create pipe",
            Operation::RemoveFile => "remove",
            Operation::RemoveDir => "remove directory",
            Operation::Rename => "rename",
            Operation::Symlink => "create link",
            Operation::HardLink => "link",
            Operation::SetMode => "set mode of",
            Operation::SetOwner => "set owner of",
            Operation::SetTimes => "set times of",
            Operation::SetXattr => "set attribute of",
            Operation::Settle => "settle",
            Operation::Commit => "commit",
            Operation::Run => "run",
            Operation::Start => "start",
            Operation::Signal => "signal",
            Operation::FindProgram => "find program",
            Operation::Account => "look up account",
            Operation::Http => "fetch",
            Operation::Network => "ask the network",
            Operation::Variable => "read variable",
        }
    }
}
