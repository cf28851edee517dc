//! Classes that outlast a run, in a file of the state directory.

use crate::log;
use crate::text::{Str, decode, path};

use super::Context;
use super::classes::{ClassScope, Persistent, PersistentClass};

fn persistent_file(ctx: &Context<'_>) -> std::path::PathBuf {
    path(&format!("{}/fx_classes", ctx.config.paths.state))
}

/// Reads the classes of earlier runs that are still to hold.
pub(crate) fn load(ctx: &mut Context<'_>) {
    let Ok(Some(bytes)) = ctx.host().read_opt(&persistent_file(ctx)) else { return };
    let now = ctx.host().now().secs;
    for line in decode(&bytes).lines() {
        let mut parts = line.split('\t');
        let (Some(name), Some(expires), Some(policy), Some(tags)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let Ok(expires) = expires.parse::<i64>() else { continue };
        if expires <= now {
            ctx.persistent.changed = true;
            continue;
        }
        let class = PersistentClass { expires, preserve: policy == "preserve", tags: tags.into() };
        ctx.persistent.classes.insert(name.into(), class);
        if ctx.negated.contains(name) {
            continue;
        }
        let minutes = (expires - now) / 60;
        log!(ctx, Verbose, "Persistent class '{name}' for {minutes} more minutes");
        log!(ctx, Verbose, "Adding persistent class '{name}'");
        let mut all: Vec<Str> =
            tags.split(',').filter(|tag| !tag.is_empty()).map(Into::into).collect();
        all.push("source=persistent".into());
        ctx.put_class(name, ClassScope::Namespace, all.into(), None);
    }
}

/// Writes the classes that later runs are to have.
pub fn save(ctx: &mut Context<'_>) {
    if !ctx.persistent.changed || ctx.validated_only || ctx.config.dry_run {
        return;
    }
    let text: String = ctx
        .persistent
        .classes
        .iter()
        .map(|(name, class)| {
            let policy = if class.preserve { "preserve" } else { "reset" };
            format!("{name}\t{}\t{policy}\t{}\n", class.expires, class.tags)
        })
        .collect();
    let file = persistent_file(ctx);
    let options = fx_host::WriteOptions::default();
    if let Err(error) = ctx.own_state(|act| act.write(&file, text.as_bytes(), &options)) {
        ctx.verbose(&error.to_string());
    }
}

impl Context<'_> {
    /// Keeps classes for other runs of this moment: what they kept meanwhile stays.
    pub fn persist_for_others(&mut self, names: &[String], minutes: i64) {
        if names.is_empty() {
            return;
        }
        self.persistent = Persistent::default();
        load(self);
        for name in names {
            self.persist_class(name, minutes, false, "");
        }
        save(self);
    }
}
