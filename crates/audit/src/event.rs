//! Audited events and their outcomes, by the names that lines have.

/// The kind of an event: `event.name` of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    ToolCall,
    ResourceRead,
    ResourceSubscribe,
    ResourceUnsubscribe,
    PromptGet,
    Completion,
    /// A request of one of these kinds begins, if the log is durable.
    Begun,
    /// Another request, or a message, that was refused.
    Refused,
    LoginFailed,
    Question,
    Answer,
    ServerStart,
    ServerEnd,
    /// The first line of a file that follows another one.
    Continued,
    /// What is before this line was written in part only.
    Torn,
    /// Lines could not be written, and are not kept.
    Lost,
}

impl Event {
    pub fn name(self) -> &'static str {
        match self {
            Self::ToolCall => "mcp.tools.call",
            Self::ResourceRead => "mcp.resources.read",
            Self::ResourceSubscribe => "mcp.resources.subscribe",
            Self::ResourceUnsubscribe => "mcp.resources.unsubscribe",
            Self::PromptGet => "mcp.prompts.get",
            Self::Completion => "mcp.completion.complete",
            Self::Begun => "mcp.begun",
            Self::Refused => "mcp.refused",
            Self::LoginFailed => "mcp.login.failed",
            Self::Question => "mcp.question",
            Self::Answer => "mcp.answer",
            Self::ServerStart => "mcp.server.start",
            Self::ServerEnd => "mcp.server.end",
            Self::Continued => "audit.continued",
            Self::Torn => "audit.torn",
            Self::Lost => "audit.lost",
        }
    }

    /// The event of a request that is recorded whatever becomes of it.
    pub fn of_method(method: &str) -> Option<Self> {
        match method {
            "tools/call" => Some(Self::ToolCall),
            "resources/read" => Some(Self::ResourceRead),
            "resources/subscribe" => Some(Self::ResourceSubscribe),
            "resources/unsubscribe" => Some(Self::ResourceUnsubscribe),
            "prompts/get" => Some(Self::PromptGet),
            "completion/complete" => Some(Self::Completion),
            _ => None,
        }
    }
}

/// What became of a request: `outcome` of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Success,
    /// The tool ran and reported a failure, or its arguments were wrong.
    Failure,
    /// The caller may not do it, or not now.
    Refused,
    Cancelled,
    Timeout,
    /// It was answered with a JSON-RPC error.
    Error,
    /// It was answered with questions. Another request brings the answers.
    InputRequired,
}

impl Outcome {
    pub const ALL: [Self; 7] = [
        Self::Success,
        Self::Failure,
        Self::Refused,
        Self::Cancelled,
        Self::Timeout,
        Self::Error,
        Self::InputRequired,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::Timeout => "timeout",
            Self::Error => "error",
            Self::InputRequired => "input_required",
        }
    }
}
