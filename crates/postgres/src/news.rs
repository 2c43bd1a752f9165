//! News of other servers: which tasks have changed, and which streams. Each is a hint: what is missed is found by looking again,
//! so a pooler that passes no news on does no harm.

use crate::connections::{Shared, jittered};
use std::future::poll_fn;
use std::sync::Weak;
use std::time::Duration;
use tokio::time::sleep;
use tokio_postgres::AsyncMessage;

/// Receives the text of news. Each listener knows what is for it.
pub(crate) type Listener = Box<dyn Fn(&str) + Send + Sync>;

/// How long to wait before the next connection.
const PAUSE: Duration = Duration::from_secs(2);

/// Tells the listeners of changes for as long as the store is used.
pub(crate) async fn follow(shared: Weak<Shared>) {
    while let Some(store) = shared.upgrade() {
        let channel = store.channel();
        let connected = store.open().await;
        drop(store);
        if let Ok((client, mut connection)) = connected {
            let told = Weak::clone(&shared);
            let listening = tokio::spawn(async move {
                while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                    if let AsyncMessage::Notification(news) = message
                        && let Some(store) = told.upgrade()
                    {
                        store.tell(news.payload());
                    }
                }
            });
            if client.batch_execute(&format!("LISTEN {channel}")).await.is_ok() {
                // It ends with the connection.
                let _ = listening.await;
            }
        }
        sleep(jittered(PAUSE)).await;
    }
}
