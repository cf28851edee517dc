//! Programs that know versions of the code: which one is there, and files as they were in it.

use std::path::PathBuf;

use super::tree::Part;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VersionedCode {
    /// Prints the version of an environment.
    pub(crate) id_command: Option<PathBuf>,
    /// Prints a file of an environment at a version.
    pub(crate) content_command: Option<PathBuf>,
}

impl VersionedCode {
    pub(super) fn read(part: &Part<'_>) -> Result<VersionedCode, String> {
        let mut found = VersionedCode::default();
        for (name, member) in part.members()? {
            let command = || {
                let path = PathBuf::from(member.text()?);
                if !path.is_absolute() {
                    return Err(member.wrong("this must be the whole path of a program"));
                }
                Ok(path)
            };
            match name {
                "code-id-command" => found.id_command = Some(command()?),
                "code-content-command" => found.content_command = Some(command()?),
                other => return Err(member.wrong(&format!("'{other}' is not known; remove it"))),
            }
        }
        if found.id_command.is_some() != found.content_command.is_some() {
            return Err(part.wrong("both 'code-id-command' and 'code-content-command' are needed"));
        }
        Ok(found)
    }
}
