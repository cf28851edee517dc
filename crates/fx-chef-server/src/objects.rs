//! What nodes, roles and environments have in common: named documents of a collection, with rights
//! of their own.

use serde_json::{Value, json};

use crate::context::{Answer, Context, fail};
use crate::message::Reply;
use crate::sent::Sent;
use crate::validation::Body;

/// A kind of document.
pub(crate) struct Kind {
    /// The name of the kind in the store.
    pub(crate) stored_as: &'static str,
    pub(crate) collection: &'static str,
    /// As a conflict names it.
    pub(crate) title: &'static str,
    pub(crate) missing: fn(&str) -> String,
    /// Fields that are kept as they were sent where they are objects.
    pub(crate) large: &'static [&'static str],
    /// The form in which it is kept, or what is wrong with it.
    pub(crate) checked: fn(Body) -> Answer<Body>,
}

impl Kind {
    pub(crate) fn list(&self, context: &mut Context<'_, '_>) -> Answer {
        context.need("read", "containers", self.collection)?;
        context.listed(self.stored_as, self.collection)
    }

    pub(crate) fn create(&self, context: &mut Context<'_, '_>) -> Answer {
        let request = context.request;
        let mut sent = Sent::read(&request.body, self.large)?;
        let body = (self.checked)(std::mem::take(&mut sent.body))?;
        let name = body["name"].as_str().unwrap_or_default().to_owned();
        context.need_create(self.collection)?;
        if context.has_own(self.stored_as, &name)? {
            return self.taken();
        }
        let text = sent.text(&body, &context.server.buffers);
        context.put_own_text(self.stored_as, &name, &text)?;
        context.server.buffers.give_back(text);
        context.new_rights(self.collection, &name)?;
        let uri = context.url_of(self.collection, &name);
        Ok(Reply::created(&uri, &json!({"uri": uri})))
    }

    pub(crate) fn taken<T>(&self) -> Answer<T> {
        fail(409, format!("{} already exists", self.title))
    }

    pub(crate) fn found(&self, context: &mut Context<'_, '_>, name: &str) -> Answer<Value> {
        match context.own(self.stored_as, name)? {
            Some(document) => Ok(document),
            None => fail(404, (self.missing)(name)),
        }
    }

    pub(crate) fn show(&self, context: &mut Context<'_, '_>, name: &str) -> Answer {
        let Some(text) = context.own_text(self.stored_as, name)? else {
            return fail(404, (self.missing)(name));
        };
        context.need("read", self.collection, name)?;
        Ok(Reply::text(200, text))
    }

    /// Replaces a document, which keeps its name. `mismatch` says what another name is.
    pub(crate) fn update(
        &self,
        context: &mut Context<'_, '_>,
        name: &str,
        mismatch: &str,
    ) -> Answer {
        let request = context.request;
        let mut sent = Sent::read(&request.body, self.large)?;
        let mut body = std::mem::take(&mut sent.body);
        if body.entry("name").or_insert_with(|| name.into()) != name {
            return fail(400, mismatch);
        }
        let text = sent.text(&(self.checked)(body)?, &context.server.buffers);
        if !context.has_own(self.stored_as, name)? {
            return fail(404, (self.missing)(name));
        }
        context.need("update", self.collection, name)?;
        context.put_own_text(self.stored_as, name, &text)?;
        Ok(Reply::text(200, text))
    }

    pub(crate) fn delete(&self, context: &mut Context<'_, '_>, name: &str) -> Answer {
        let document = self.found(context, name)?;
        context.need("delete", self.collection, name)?;
        context.remove_own(self.stored_as, name)?;
        context.drop_rights(self.collection, name)?;
        Ok(Reply::ok(&document))
    }
}
