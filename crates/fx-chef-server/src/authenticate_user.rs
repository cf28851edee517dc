//! Passwords, checked for other programs.

use serde_json::{Value, json};

use crate::context::{Answer, Context, GLOBAL, fail};
use crate::message::Reply;
use crate::users;
use crate::validation::missing;

fn credentials(context: &Context<'_, '_>) -> Answer<(String, String)> {
    let body = context.body()?;
    let field = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
    match (field("username"), field("password")) {
        (Some(name), Some(password)) => Ok((name, password)),
        (None, _) => missing("username"),
        (_, None) => missing("password"),
    }
}

/// The user whose password it is.
fn checked(context: &mut Context<'_, '_>) -> Answer<Value> {
    let (name, password) = credentials(context)?;
    if !context.actor.is_superuser {
        return fail(403, "missing update permission");
    }
    match context.get(GLOBAL, "user", &name)? {
        Some(user) if users::has_password(&user, &password) => Ok(user),
        _ => fail(401, "Failed to authenticate: Username and password incorrect"),
    }
}

pub(crate) fn authenticate(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let user = checked(context)?;
    context.version = 1;
    let shown = users::shown(context, &user)?;
    Ok(Reply::ok(&json!({"status": "linked", "user": shown})))
}

pub(crate) fn recover(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let (name, _) = credentials(context)?;
    let known = context.get(GLOBAL, "user", &name)?;
    let is_enabled = known.is_some_and(|user| user["recovery_authentication_enabled"] == true);
    if context.actor.is_superuser && !is_enabled {
        return fail(403, "System recovery disabled for this user");
    }
    let user = checked(context)?;
    context.version = 1;
    let mut shown = users::shown(context, &user)?;
    shown["recovery_authentication_enabled"] = true.into();
    Ok(Reply::ok(&shown))
}
