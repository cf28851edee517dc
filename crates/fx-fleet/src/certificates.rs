//! Certificates, requests for them, serial numbers and revocations.
//!
//! A serial number is taken once, and a name has one current certificate: the schema says so, and
//! two servers over one store cannot get around it.

use crate::Fleet;
use crate::engine::{Error, Result, Row, Sql};

/// What all servers of a fleet know of its authority. The key is not kept here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorityRecord {
    /// Certificates of the authority in PEM: the one that signs first, the root last.
    pub chain: String,
    /// The serial number that is given next.
    pub next_serial: u64,
}

/// The list of revoked certificates, as it is handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRecord {
    pub number: u64,
    /// Seconds since 1970.
    pub written: u64,
    /// The list of the authority that signs, in PEM.
    pub own: String,
    /// Lists of the authorities above it, in PEM.
    pub above: String,
}

/// A request that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    pub name: String,
    pub received: u64,
    pub text: String,
}

/// A certificate that was signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// In hexadecimal, upper case, without zeros before it.
    pub serial: String,
    pub name: String,
    pub text: String,
    pub not_before: u64,
    pub not_after: u64,
    /// When it was revoked.
    pub revoked: Option<u64>,
}

/// What a name has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Requested,
    Signed,
    Revoked,
}

/// How a request was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    Stored,
    /// The name already has something.
    Taken(State),
}

const ISSUED: &str = "SELECT c.serial, c.name, c.text, c.not_before, c.not_after, r.at
    FROM certificate c LEFT JOIN revocation r ON r.serial = c.serial";

fn issued(mut row: Row) -> Result<Issued> {
    Ok(Issued {
        serial: row.text()?,
        name: row.text()?,
        text: row.text()?,
        not_before: row.number()?,
        not_after: row.number()?,
        revoked: row.number_opt()?,
    })
}

fn request(mut row: Row) -> Result<RequestRecord> {
    Ok(RequestRecord { name: row.text()?, received: row.number()?, text: row.text()? })
}

fn state_of(sql: &mut dyn Sql, name: &str) -> Result<Option<State>> {
    let current = format!("{ISSUED} WHERE c.name = $1 AND c.is_current = 1");
    if let Some(row) = sql.row(&current, &[name.into()])? {
        let is_revoked = issued(row)?.revoked.is_some();
        return Ok(Some(if is_revoked { State::Revoked } else { State::Signed }));
    }
    let waiting = sql.row("SELECT name FROM request WHERE name = $1", &[name.into()])?;
    Ok(waiting.map(|_| State::Requested))
}

fn insert(sql: &mut dyn Sql, issued: &Issued, is_current: bool) -> Result<()> {
    sql.run(
        "INSERT INTO certificate (serial, name, text, not_before, not_after, is_current)
         VALUES ($1, $2, $3, $4, $5, $6)",
        &[
            (&issued.serial).into(),
            (&issued.name).into(),
            (&issued.text).into(),
            issued.not_before.into(),
            issued.not_after.into(),
            is_current.into(),
        ],
    )?;
    if let Some(at) = issued.revoked {
        add_revocation(sql, &issued.serial, at)?;
    }
    Ok(())
}

fn add_revocation(sql: &mut dyn Sql, serial: &str, at: u64) -> Result<()> {
    let insert = "INSERT INTO revocation (serial, at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    sql.run(insert, &[serial.into(), at.into()]).map(drop)
}

fn set_list(sql: &mut dyn Sql, list: &ListRecord) -> Result<()> {
    sql.run(
        "INSERT INTO revocation_list (id, number, written, own, above) VALUES (1, $1, $2, $3, $4)
         ON CONFLICT (id) DO UPDATE SET number = excluded.number, written = excluded.written,
         own = excluded.own, above = excluded.above",
        &[list.number.into(), list.written.into(), (&list.own).into(), (&list.above).into()],
    )
    .map(drop)
}

fn list(sql: &mut dyn Sql) -> Result<Option<ListRecord>> {
    let row = sql.row("SELECT number, written, own, above FROM revocation_list", &[])?;
    let read = |mut row: Row| {
        Ok(ListRecord {
            number: row.number()?,
            written: row.number()?,
            own: row.text()?,
            above: row.text()?,
        })
    };
    row.map(read).transpose()
}

fn revocations(sql: &mut dyn Sql) -> Result<Vec<(String, u64)>> {
    let rows = sql.rows("SELECT serial, at FROM revocation ORDER BY at, serial", &[])?;
    rows.into_iter().map(|mut row| Ok((row.text()?, row.number()?))).collect()
}

impl Fleet {
    pub fn authority(&self) -> Result<Option<AuthorityRecord>> {
        self.read(|sql| {
            let row = sql.row("SELECT chain, next_serial FROM authority", &[])?;
            row.map(|mut row| {
                Ok(AuthorityRecord { chain: row.text()?, next_serial: row.number()? })
            })
            .transpose()
        })
    }

    /// Takes over an authority with all that it signed and revoked; `false` where the store has
    /// one already, which stays as it is.
    pub fn found(
        &self,
        authority: &AuthorityRecord,
        list: &ListRecord,
        issued: &[Issued],
        revoked: &[(String, u64)],
        requests: &[RequestRecord],
    ) -> Result<bool> {
        self.write(|sql| {
            let added = sql.run(
                "INSERT INTO authority (id, chain, next_serial) VALUES (1, $1, $2)
                 ON CONFLICT DO NOTHING",
                &[(&authority.chain).into(), authority.next_serial.into()],
            )?;
            if added == 0 {
                return Ok(false);
            }
            set_list(sql, list)?;
            for one in issued {
                insert(sql, one, true)?;
            }
            for (serial, at) in revoked {
                add_revocation(sql, serial, *at)?;
            }
            for one in requests {
                add_request(sql, one)?;
            }
            Ok(true)
        })
    }

    /// A serial number that nobody else gets, ever.
    pub fn take_serial(&self) -> Result<u64> {
        self.write(|sql| {
            let changed = sql.run("UPDATE authority SET next_serial = next_serial + 1", &[])?;
            let row = sql.row("SELECT next_serial FROM authority", &[])?;
            match (changed, row) {
                (1, Some(mut row)) => Ok(row.number()?.saturating_sub(1)),
                _ => Err(Error::Broken("there is no authority".into())),
            }
        })
    }

    /// Keeps a request, where the name has neither a request nor a certificate.
    pub fn add_request(&self, record: &RequestRecord) -> Result<Added> {
        self.write(|sql| {
            if let Some(state) = state_of(sql, &record.name)? {
                return Ok(Added::Taken(state));
            }
            add_request(sql, record)?;
            Ok(Added::Stored)
        })
    }

    /// What a name has.
    pub fn state(&self, name: &str) -> Result<Option<State>> {
        self.read(|sql| state_of(sql, name))
    }

    pub fn request(&self, name: &str) -> Result<Option<RequestRecord>> {
        let select = "SELECT name, received, text FROM request WHERE name = $1";
        self.read(|sql| sql.row(select, &[name.into()])?.map(request).transpose())
    }

    /// All requests by name.
    pub fn requests(&self) -> Result<Vec<RequestRecord>> {
        let select = "SELECT name, received, text FROM request ORDER BY name";
        self.read(|sql| sql.rows(select, &[])?.into_iter().map(request).collect())
    }

    pub fn remove_request(&self, name: &str) -> Result<bool> {
        let delete = "DELETE FROM request WHERE name = $1";
        self.write(|sql| Ok(sql.run(delete, &[name.into()])? > 0))
    }

    /// Keeps a certificate as the current one of its name, and removes the request for it.
    /// [`Error::Taken`] where the name has one, or the serial number was given before. A renewed
    /// one takes the place of the one before it.
    pub fn issue(&self, one: &Issued, renews: bool) -> Result<()> {
        self.write(|sql| {
            if renews {
                let retire = "UPDATE certificate SET is_current = 0 WHERE name = $1";
                sql.run(retire, &[(&one.name).into()])?;
            }
            insert(sql, one, true)?;
            sql.run("DELETE FROM request WHERE name = $1", &[(&one.name).into()]).map(drop)
        })
    }

    /// The current certificate of a name.
    pub fn certificate(&self, name: &str) -> Result<Option<Issued>> {
        let select = format!("{ISSUED} WHERE c.name = $1 AND c.is_current = 1");
        self.read(|sql| sql.row(&select, &[name.into()])?.map(issued).transpose())
    }

    /// All current certificates by name.
    pub fn certificates(&self) -> Result<Vec<Issued>> {
        let select = format!("{ISSUED} WHERE c.is_current = 1 ORDER BY c.name");
        self.read(|sql| sql.rows(&select, &[])?.into_iter().map(issued).collect())
    }

    /// Removes the certificate and the request of a name; it does not revoke. The serial number
    /// stays taken.
    pub fn clean(&self, name: &str) -> Result<bool> {
        self.write(|sql| {
            let retire = "UPDATE certificate SET is_current = 0 WHERE name = $1 AND is_current = 1";
            let certificates = sql.run(retire, &[name.into()])?;
            let requests = sql.run("DELETE FROM request WHERE name = $1", &[name.into()])?;
            Ok(certificates + requests > 0)
        })
    }

    /// Revokes all certificates of names that were not revoked before, current or not, and keeps
    /// the list that `sign` makes of all revocations and its number. Nothing is changed where
    /// all were revoked already.
    pub fn revoke(
        &self,
        names: &[String],
        at: u64,
        mut sign: impl FnMut(&[(String, u64)], u64) -> std::result::Result<String, String>,
    ) -> Result<()> {
        self.write(|sql| {
            let mut added = 0;
            for name in names {
                let rows =
                    sql.rows("SELECT serial FROM certificate WHERE name = $1", &[name.into()])?;
                for mut row in rows {
                    let insert = "INSERT INTO revocation (serial, at) VALUES ($1, $2)
                        ON CONFLICT DO NOTHING";
                    added += sql.run(insert, &[(&row.text()?).into(), at.into()])?;
                }
            }
            if added == 0 {
                return Ok(());
            }
            let all = revocations(sql)?;
            let mut next =
                list(sql)?.ok_or_else(|| Error::Broken("there is no authority".into()))?;
            next.number += 1;
            next.written = at;
            next.own = sign(&all, next.number).map_err(Error::Caller)?;
            set_list(sql, &next)
        })
    }

    /// Serial numbers of all revoked certificates with the time of each.
    pub fn revocations(&self) -> Result<Vec<(String, u64)>> {
        self.read(revocations)
    }

    pub fn revocation_list(&self) -> Result<Option<ListRecord>> {
        self.read(list)
    }

    /// Replaces the lists of the authorities above ours.
    pub fn set_lists_above(&self, above: &str, at: u64) -> Result<()> {
        let update = "UPDATE revocation_list SET above = $1, written = $2";
        self.write(|sql| sql.run(update, &[above.into(), at.into()]).map(drop))
    }
}

fn add_request(sql: &mut dyn Sql, record: &RequestRecord) -> Result<()> {
    sql.run(
        "INSERT INTO request (name, received, text) VALUES ($1, $2, $3)",
        &[(&record.name).into(), record.received.into(), (&record.text).into()],
    )
    .map(drop)
}
