//! Response body: a text or a stream of events.

use crate::http::limits::slow_client_timeout::ServingGuard;
use crate::http::streams::events::Events;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

pub(in crate::http) struct ResponseBody {
    content: Content,
    /// Marks the request as being served until the body has been sent.
    served: Option<ServingGuard>,
}

enum Content {
    Text(Option<Bytes>),
    Events(Events),
}

impl ResponseBody {
    pub(in crate::http) fn nothing() -> Self {
        Self { content: Content::Text(None), served: None }
    }

    pub(in crate::http) fn text(text: impl Into<Bytes>) -> Self {
        let text = text.into();
        Self { content: Content::Text((!text.is_empty()).then_some(text)), served: None }
    }

    pub(in crate::http) fn events(events: Events) -> Self {
        Self { content: Content::Events(events), served: None }
    }

    pub(in crate::http) fn holding(mut self, served: ServingGuard) -> Self {
        self.served = Some(served);
        self
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let body = self.get_mut();
        match &mut body.content {
            Content::Text(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Content::Events(events) => {
                if body.served.as_ref().is_some_and(ServingGuard::is_half_closed) {
                    events.probe_reader();
                }
                Pin::new(events).poll_frame(context)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.content, Content::Text(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Text(text) => SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64)),
            Content::Events(_) => SizeHint::default(),
        }
    }
}
