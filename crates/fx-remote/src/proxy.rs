//! A proxy for requests without TLS: it is asked for whole addresses, as HTTP has it. What goes by
//! TLS takes a tunnel instead, which the HTTP client makes itself.

use std::io::Write;

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport, TransportAdapter,
};

/// Finds the proxy, whatever host is asked for: names of the other side are the proxy's affair.
pub(crate) struct Toward(pub(crate) Uri);

impl std::fmt::Debug for Toward {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // An address of a proxy may hold a password.
        out.write_str("Toward")
    }
}

impl Resolver for Toward {
    fn resolve(
        &self,
        _: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        DefaultResolver::default().resolve(&self.0, config, timeout)
    }
}

/// Makes whole addresses of the paths that requests begin with.
#[derive(Debug)]
pub(crate) struct Whole;

impl<In: Transport> Connector<In> for Whole {
    type Out = Forwarded;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Forwarded>, ureq::Error> {
        let Some(transport) = chained else { return Ok(None) };
        let host = details.uri.authority().map_or("", |authority| authority.as_str());
        // Who asks is between us and the server, and in its header.
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let buffers = LazyBuffers::new(
            details.config.input_buffer_size(),
            details.config.output_buffer_size(),
        );
        Ok(Some(Forwarded {
            origin: format!("http://{host}"),
            begins: true,
            buffers,
            inner: TransportAdapter::new(transport.boxed(), details.current_time.clone()),
        }))
    }
}

/// A connection to a proxy for one server behind it.
pub(crate) struct Forwarded {
    origin: String,
    /// What is sent next is the head of a request.
    begins: bool,
    buffers: LazyBuffers,
    inner: TransportAdapter,
}

impl std::fmt::Debug for Forwarded {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Forwarded")
    }
}

impl Transport for Forwarded {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.inner.set_timeout(timeout);
        let mut output = &self.buffers.output()[..amount];
        if self.begins && amount > 0 {
            let method = output.iter().position(|byte| *byte == b' ').map_or(0, |at| at + 1);
            self.inner.write_all(&output[..method])?;
            self.inner.write_all(self.origin.as_bytes())?;
            output = &output[method..];
            self.begins = false;
        }
        self.inner.write_all(output)?;
        Ok(self.inner.flush()?)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        // No request is sent before the answer to the last one.
        self.begins = true;
        self.inner.set_timeout(timeout);
        let amount = std::io::Read::read(&mut self.inner, self.buffers.input_append_buf())?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.inner.get_mut().is_open()
    }
}
