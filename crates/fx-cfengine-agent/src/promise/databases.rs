//! databases: what is said of a promise before a server would be asked.
//!
//! Like Debian's build of the original this one has no client of a database server, so that
//! no connection is ever made; SQLite is no type of the language.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_engine::Level;

use crate::agent::Agent;

const FORM: &str = "SQL database promiser syntax should be of the form \"database.table\"";

/// Keeps a databases promise, as far as that goes.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    let kind = promise.scalar("database_type").cloned().unwrap_or_default();
    if !sane(ctx, promise, &kind) {
        return Outcome::Failed;
    }
    if &*kind == "ms_registry" {
        return Outcome::Kept;
    }
    if !ctx.acquire_alone(promise, &format!("db-{}", promise.promiser)) {
        return Outcome::Skipped;
    }
    let is_mark = |char: char| matches!(char, '.' | '/' | '\\');
    let database = promise.promiser.split(is_mark).next().unwrap_or_default().to_owned();
    if database.is_empty() || promise.promiser.matches(is_mark).count() > 1 {
        ctx.settle(Level::Error, Outcome::Failed, promise, FORM);
        ctx.log_place(Level::Error, &promise.promise);
        if database.is_empty() {
            return Outcome::Failed;
        }
    }
    match promise.scalar("database_operation").map(|word| &**word) {
        None => {
            let text = "Missing database_operation in database promise";
            ctx.settle(Level::Error, Outcome::Failed, promise, text);
            ctx.log_place(Level::Error, &promise.promise);
        }
        Some("create") => {
            // Tried with the database itself, then with the one to connect to.
            no_client(ctx, promise);
            no_client(ctx, promise);
            ctx.error(&format!("Could not connect to the sql_db server for '{database}'"));
        }
        Some(_) => {
            no_client(ctx, promise);
            ctx.error(&format!(
                "Could not connect an existing database '{database}' - check server configuration?"
            ));
            ctx.log_place(Level::Error, &promise.promise);
        }
    }
    Outcome::Failed
}

fn no_client(ctx: &Agent<'_>, promise: &Expanded) {
    let product = match promise.scalar("db_server_type").map(|word| &**word) {
        Some("mysql") => "MySQL",
        Some("postgres") => "PostgreSQL",
        _ => return,
    };
    ctx.info(&format!("There is no {product} support compiled into this version"));
}

fn sane(ctx: &Agent<'_>, promise: &Expanded, kind: &str) -> bool {
    let mut wrong: Vec<&str> = Vec::new();
    let columns = promise.list("database_columns");
    if kind == "sql" {
        if !promise.promiser.contains(['.', '/', '\\']) {
            if columns.is_some() {
                wrong.push(
                    "Row values promised for an SQL table, but only the root database was promised",
                );
            }
            if promise.has("database_rows") {
                wrong.push(
                    "Columns promised for an SQL table, but only the root database was promised",
                );
            }
        }
        for (attribute, text) in [
            ("db_server_host", "No server host is promised for connecting to the SQL server"),
            (
                "db_server_owner",
                "No database login user is promised for connecting to the SQL server",
            ),
            (
                "db_server_password",
                "No database authentication password is promised for connecting to the SQL server",
            ),
        ] {
            if !promise.has(attribute) {
                wrong.push(text);
            }
        }
        for column in columns.unwrap_or_default() {
            if !(1..=2).contains(&column.matches(',').count()) {
                wrong.push("SQL Column format should be NAME,TYPE[,SIZE]");
            }
        }
    }
    let destroys = promise
        .scalar("database_operation")
        .is_some_and(|word| matches!(&**word, "delete" | "drop"));
    if destroys && promise.comment.is_none() {
        wrong.push("When specifying a delete/drop from an SQL database you must add a comment. Take a backup of the database before making this change. This is a highly destructive operation.");
    }
    for text in &wrong {
        ctx.error(text);
    }
    wrong.is_empty()
}
