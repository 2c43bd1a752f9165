//! News of other servers: which tasks have changed. Each is a hint: what is missed is found by looking again, so a pooler that
//! passes no news on does no harm.

use crate::connections::{Shared, jittered};
use mcp_bash_tasks::{ChangeListener, TaskId};
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::sleep;
use tokio_postgres::AsyncMessage;

/// How long to wait before the next connection.
const PAUSE: Duration = Duration::from_secs(2);

/// Tells the listener of changes for as long as the store is used.
pub(crate) async fn follow(shared: Weak<Shared>, listener: ChangeListener) {
    let listener = Arc::new(listener);
    while let Some(store) = shared.upgrade() {
        let channel = store.channel();
        let connected = store.open().await;
        drop(store);
        if let Ok((client, mut connection)) = connected {
            let told = Arc::clone(&listener);
            let listening = tokio::spawn(async move {
                while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                    if let AsyncMessage::Notification(news) = message
                        && let Some(id) = TaskId::parse(news.payload())
                    {
                        told(&id);
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
