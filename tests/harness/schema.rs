//! Checks messages against the types generated from the official schema of each revision.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads `value` as a `T`, as a client with generated types would.
fn conforms<T: DeserializeOwned>(value: &Value, message: &Value) {
    if let Err(error) = serde_json::from_value::<T>(value.clone()) {
        panic!("against the schema ({}): {error}: {message}", std::any::type_name::<T>());
    }
}

macro_rules! answers {
    ($module:path, $method:expr, $message:expr) => {{
        use $module as schema;
        let (method, message): (&str, &Value) = ($method, $message);
        match (message.get("error"), method) {
            (Some(error), _) => conforms::<schema::RpcError>(error, message),
            (None, "tools/list") => conforms::<schema::ListToolsResult>(&message["result"], message),
            (None, "resources/list") => conforms::<schema::ListResourcesResult>(&message["result"], message),
            (None, "resources/templates/list") => {
                conforms::<schema::ListResourceTemplatesResult>(&message["result"], message);
            }
            (None, "resources/read") => conforms::<schema::ReadResourceResult>(&message["result"], message),
            (None, "tools/call") => conforms::<schema::CallToolResult>(&message["result"], message),
            (None, "prompts/list") => conforms::<schema::ListPromptsResult>(&message["result"], message),
            (None, "prompts/get") => conforms::<schema::GetPromptResult>(&message["result"], message),
            (None, "completion/complete") => conforms::<schema::CompleteResult>(&message["result"], message),
            (None, _) => conforms::<schema::Result>(&message["result"], message),
        }
    }};
}

macro_rules! notifications {
    ($module:path, $message:expr) => {{
        use $module as schema;
        let message: &Value = $message;
        match message["method"].as_str() {
            Some("notifications/progress") => conforms::<schema::ProgressNotification>(message, message),
            Some("notifications/tools/list_changed") => {
                conforms::<schema::ToolListChangedNotification>(message, message);
            }
            Some("notifications/resources/list_changed") => {
                conforms::<schema::ResourceListChangedNotification>(message, message);
            }
            Some("notifications/resources/updated") => {
                conforms::<schema::ResourceUpdatedNotification>(message, message);
            }
            Some("notifications/prompts/list_changed") => {
                conforms::<schema::PromptListChangedNotification>(message, message);
            }
            Some("notifications/cancelled") => conforms::<schema::CancelledNotification>(message, message),
            Some("notifications/message") => conforms::<schema::LoggingMessageNotification>(message, message),
            other => panic!("an unexpected notification {other:?}: {message}"),
        }
    }};
}

macro_rules! requests {
    ($module:path, $message:expr) => {{
        use $module as schema;
        let message: &Value = $message;
        match message["method"].as_str() {
            Some("sampling/createMessage") => conforms::<schema::CreateMessageRequest>(message, message),
            Some("roots/list") => conforms::<schema::ListRootsRequest>(message, message),
            other => panic!("an unexpected request {other:?}: {message}"),
        }
    }};
}

/// Checks a request of the server to its client.
pub(crate) fn check_request(revision: &str, message: &Value) {
    match (revision, message["method"].as_str()) {
        // Some clients offer forms before their revision has them. They are asked as in later revisions.
        ("2024-11-05" | "2025-03-26" | "2025-06-18", Some("elicitation/create")) => {
            conforms::<schema_2025_06_18::mcp_2025_06_18::ElicitRequest>(message, message);
        }
        ("2025-11-25", Some("elicitation/create")) => {
            conforms::<schema_2025_11_25::mcp_2025_11_25::ElicitRequest>(message, message);
        }
        ("2024-11-05", _) => requests!(schema_2024_11_05::mcp_2024_11_05, message),
        ("2025-03-26", _) => requests!(schema_2025_03_26::mcp_2025_03_26, message),
        ("2025-06-18", _) => requests!(schema_2025_06_18::mcp_2025_06_18, message),
        ("2025-11-25", _) => requests!(schema_2025_11_25::mcp_2025_11_25, message),
        other => panic!("{other:?} has no requests to clients: {message}"),
    }
}

pub(crate) fn check_answer(revision: &str, method: &str, message: &Value) {
    let result = &message["result"];
    if revision == "2026-07-28" && result["resultType"] == "input_required" {
        return conforms::<schema_2026_07_28::mcp_2026_07_28::InputRequiredResult>(result, message);
    }
    if message.get("error").is_none() && check_task(revision, method, message) {
        return;
    }
    match revision {
        "2024-11-05" => answers!(schema_2024_11_05::mcp_2024_11_05, method, message),
        "2025-03-26" => answers!(schema_2025_03_26::mcp_2025_03_26, method, message),
        "2025-06-18" => answers!(schema_2025_06_18::mcp_2025_06_18, method, message),
        "2025-11-25" => answers!(schema_2025_11_25::mcp_2025_11_25, method, message),
        "2026-07-28" => answers!(schema_2026_07_28::mcp_2026_07_28, method, message),
        other => panic!("an unknown revision {other}: {message}"),
    }
    if message.get("error").is_some() {
        return;
    }
    match (revision, method) {
        ("2024-11-05", "initialize") => {
            conforms::<schema_2024_11_05::mcp_2024_11_05::InitializeResult>(result, message);
        }
        ("2025-03-26", "initialize") => {
            conforms::<schema_2025_03_26::mcp_2025_03_26::InitializeResult>(result, message);
        }
        ("2025-06-18", "initialize") => {
            conforms::<schema_2025_06_18::mcp_2025_06_18::InitializeResult>(result, message);
        }
        ("2025-11-25", "initialize") => {
            conforms::<schema_2025_11_25::mcp_2025_11_25::InitializeResult>(result, message);
        }
        (_, "subscriptions/listen") => {
            conforms::<schema_2026_07_28::mcp_2026_07_28::SubscriptionsListenResult>(result, message);
        }
        (_, "server/discover") => {
            conforms::<schema_2026_07_28::mcp_2026_07_28::DiscoverResult>(result, message);
        }
        _ => {}
    }
}

/// Checks an answer about a task. False if it is none. The schema of 2026-07-28 does not have the extension.
fn check_task(revision: &str, method: &str, message: &Value) -> bool {
    use schema_2025_11_25::mcp_2025_11_25 as old;
    let result = &message["result"];
    match (revision, method) {
        ("2025-11-25", "tools/call") if result.get("task").is_some() => {
            conforms::<old::CreateTaskResult>(result, message);
        }
        ("2025-11-25", "tasks/get") => conforms::<old::GetTaskResult>(result, message),
        ("2025-11-25", "tasks/cancel") => conforms::<old::CancelTaskResult>(result, message),
        ("2025-11-25", "tasks/list") => conforms::<old::ListTasksResult>(result, message),
        ("2025-11-25", "tasks/result") => conforms::<old::CallToolResult>(result, message),
        ("2026-07-28", "tools/call") if result["resultType"] == "task" => {
            check_extension_task(result, message);
            for absent in ["task", "result", "error", "inputRequests", "requestState", "ttl", "pollInterval"]
            {
                assert!(result.get(absent).is_none(), "`{absent}`: {message}");
            }
        }
        ("2026-07-28", "tasks/get") => check_extension_task(result, message),
        _ => return false,
    }
    true
}

/// Checks the members that every task of the extension has.
fn check_extension_task(task: &Value, message: &Value) {
    assert!(task["taskId"].is_string() && task["status"].is_string(), "{message}");
    for time in ["createdAt", "lastUpdatedAt"] {
        assert!(task[time].as_str().is_some_and(|time| time.ends_with('Z')), "{message}");
    }
    assert!(task["ttlMs"].is_null() || task["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0), "{message}");
    assert!(task["pollIntervalMs"].as_u64().is_some_and(|poll| poll > 0), "{message}");
    assert_eq!(task.get("inputRequests").is_some(), task["status"] == "input_required", "{message}");
    assert_eq!(task.get("error").is_some(), task["status"] == "failed", "{message}");
    assert!(task.get("requestState").is_none(), "{message}");
}

pub(crate) fn check_notification(revision: &str, message: &Value) {
    if message["method"] == "notifications/subscriptions/acknowledged" {
        use schema_2026_07_28::mcp_2026_07_28::SubscriptionsAcknowledgedNotification;
        return conforms::<SubscriptionsAcknowledgedNotification>(message, message);
    }
    if message["method"] == "notifications/tasks" {
        assert!(
            message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].is_string()
                || message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].is_number(),
            "{message}"
        );
        return check_extension_task(&message["params"], message);
    }
    if revision == "2025-11-25" && message["method"] == "notifications/tasks/status" {
        return conforms::<schema_2025_11_25::mcp_2025_11_25::TaskStatusNotification>(message, message);
    }
    match revision {
        "2024-11-05" => notifications!(schema_2024_11_05::mcp_2024_11_05, message),
        "2025-03-26" => notifications!(schema_2025_03_26::mcp_2025_03_26, message),
        "2025-06-18" => notifications!(schema_2025_06_18::mcp_2025_06_18, message),
        "2025-11-25" => notifications!(schema_2025_11_25::mcp_2025_11_25, message),
        "2026-07-28" => notifications!(schema_2026_07_28::mcp_2026_07_28, message),
        other => panic!("an unknown revision {other}: {message}"),
    }
}
