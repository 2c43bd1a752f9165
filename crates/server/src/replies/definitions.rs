//! Definitions of tools, resources, templates and prompts, `serverInfo` and capabilities, as each revision expects them.

use super::members::Members;
use mcp_bash_project::{About, Identity, Prompt, Resource, ResourceTemplate, TaskSupport, Tool};
use mcp_bash_wire::{Limits, Object, Raw, Revision, Scanner};
use serde_json::value::RawValue;

/// `serverInfo` for a revision.
pub(crate) fn server_info(identity: &Identity, revision: Revision) -> String {
    let mut info = Members::default();
    info.string("name", Some(&identity.name));
    info.string("version", Some(&identity.version));
    if revision.has_titles() {
        info.string("title", Some(&identity.title));
    }
    if revision.has_icons() {
        info.string("description", identity.description.as_deref());
        info.string("websiteUrl", identity.website_url.as_deref());
        info.optional_raw("icons", identity.icons.as_deref().map(RawValue::get));
    }
    info.object()
}

/// The capabilities of the server for a revision.
pub(crate) fn server_capabilities(revision: Revision, is_minimal: bool, has_tasks: bool) -> String {
    // A literal, because `server/discover` is called often.
    if is_minimal {
        return r#"{"logging":{}}"#.to_owned();
    }
    let completions = if revision.has_completions() { r#","completions":{}"# } else { "" };
    let tasks = match has_tasks {
        true if revision.has_task_extension() => r#","extensions":{"io.modelcontextprotocol/tasks":{}}"#,
        true if revision.has_requested_tasks() => {
            r#","tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#
        }
        _ => "",
    };
    [
        r#"{"logging":{},"tools":{"listChanged":true},"prompts":{"listChanged":true},"#,
        r#""resources":{"subscribe":true,"listChanged":true}"#,
        completions,
        tasks,
        "}",
    ]
    .concat()
}

/// The `_meta` key of the restrictions that a sandbox enforces.
pub(crate) const SANDBOX: &str = "mcpbash/sandbox";

/// The `_meta` key of the host where a tool ran, if it was not this one.
pub(crate) const LAUNCHER: &str = "mcpbash/launcher";

/// The `_meta` key of a tool that needs the user's consent.
const CONFIRM: &str = "mcpbash/confirm";

/// Properties of a tool that are not in its definition.
pub(crate) struct AboutTool {
    /// The restrictions of its sandbox, as JSON, if it has one.
    pub(crate) sandbox: Option<String>,
    pub(crate) needs_consent: bool,
    /// Whether its calls can be tasks.
    pub(crate) tasks: TaskSupport,
}

/// The definition of a tool for a revision.
pub(crate) fn tool(tool: &Tool, revision: Revision, about: impl Fn(&Tool) -> AboutTool) -> String {
    let text = |value: &Option<Box<RawValue>>| value.as_ref().map(|raw| raw.get().to_owned());
    let mut definition = Members::default();
    definition.string("name", Some(&tool.name));
    if revision.has_titles() {
        definition.string("title", tool.title.as_deref());
    }
    definition.string("description", tool.description.as_deref());
    definition.raw("inputSchema", tool.input_schema.get());
    if revision.has_structured_content() {
        let schema =
            text(&tool.output_schema).filter(|schema| revision.has_result_type() || describes_object(schema));
        definition.optional_raw("outputSchema", schema.as_deref());
    }
    if revision.has_tool_annotations() {
        definition.optional_raw("annotations", text(&tool.annotations).as_deref());
    }
    if revision.has_icons() {
        definition.optional_raw("icons", text(&tool.icons).as_deref());
    }
    let about = about(tool);
    if revision.has_requested_tasks() && about.tasks != TaskSupport::Forbidden {
        definition.raw("execution", &format!("{{\"taskSupport\":\"{}\"}}", about.tasks.word()));
    }
    if revision.has_item_meta() {
        let meta = meta_of_tool(tool.meta.as_deref().map(RawValue::get), &about);
        definition.optional_raw("_meta", meta.as_deref());
    }
    definition.object()
}

/// The `_meta` of a tool: that of its author, its sandbox and its need for consent. The author cannot set the latter two.
fn meta_of_tool(own: Option<&str>, about: &AboutTool) -> Option<String> {
    // Keys may be written with escapes.
    let may_claim = |own: &str| own.contains(SANDBOX) || own.contains(CONFIRM) || own.contains('\\');
    if about.sandbox.is_none() && !about.needs_consent && !own.is_some_and(may_claim) {
        return own.map(ToOwned::to_owned);
    }
    let mut meta = Members::default();
    if let Some(own) = own.and_then(|own| Scanner::new(own, Limits::NONE).whole_value().ok()) {
        meta.splice_object(own, &[SANDBOX, CONFIRM]);
    }
    meta.optional_raw(SANDBOX, about.sandbox.as_deref());
    meta.optional_raw(CONFIRM, about.needs_consent.then_some("true"));
    (!meta.is_empty()).then(|| meta.object())
}

/// The definition of a resource for a revision.
pub(crate) fn resource(resource: &Resource, revision: Revision) -> String {
    let mut definition = Members::default();
    definition.string("uri", Some(&resource.uri));
    definition.optional_raw("size", resource.size.map(|size| size.to_string()).as_deref());
    definition.string("provider", Some(&resource.provider));
    about(&mut definition, &resource.about, revision);
    definition.object()
}

/// The definition of a template for a revision.
pub(crate) fn resource_template(template: &ResourceTemplate, revision: Revision) -> String {
    let mut definition = Members::default();
    definition.string("uriTemplate", Some(template.template.as_str()));
    about(&mut definition, &template.about, revision);
    definition.object()
}

/// The members that resources and templates share.
fn about(definition: &mut Members, about: &About, revision: Revision) {
    let raw = |value: &Option<Box<RawValue>>| value.as_ref().map(|raw| raw.get().to_owned());
    definition.string("name", Some(&about.name));
    if revision.has_titles() {
        definition.string("title", about.title.as_deref());
    }
    definition.string("description", about.description.as_deref());
    definition.string("mimeType", about.mime_type.as_deref());
    definition.optional_raw("annotations", raw(&about.annotations).as_deref());
    if revision.has_icons() {
        definition.optional_raw("icons", raw(&about.icons).as_deref());
    }
    if revision.has_item_meta() {
        definition.optional_raw("_meta", raw(&about.meta).as_deref());
    }
}

/// The definition of a prompt for a revision.
pub(crate) fn prompt(prompt: &Prompt, revision: Revision) -> String {
    let raw = |value: &Option<Box<RawValue>>| value.as_ref().map(|raw| raw.get().to_owned());
    let arguments = prompt.arguments.iter().map(|argument| {
        let mut shown = Members::default();
        shown.string("name", Some(&argument.name));
        if revision.has_titles() {
            shown.string("title", argument.title.as_deref());
        }
        shown.string("description", argument.description.as_deref());
        shown.raw("required", if argument.required { "true" } else { "false" });
        shown.object()
    });
    let mut definition = Members::default();
    definition.string("name", Some(&prompt.name));
    if revision.has_titles() {
        definition.string("title", prompt.title.as_deref());
    }
    definition.string("description", prompt.description.as_deref());
    definition.raw("arguments", &format!("[{}]", arguments.collect::<Vec<_>>().join(",")));
    if revision.has_icons() {
        definition.optional_raw("icons", raw(&prompt.icons).as_deref());
    }
    if revision.has_item_meta() {
        definition.optional_raw("_meta", raw(&prompt.meta).as_deref());
    }
    definition.object()
}

/// Whether a schema describes an object. Before the stateless era, structured content had to be an object.
fn describes_object(schema: &str) -> bool {
    let read = || {
        let whole = Scanner::new(schema, Limits::NONE).whole_value().ok()?;
        Object::read(whole, "outputSchema", &["type"]).ok()?.get("type").and_then(Raw::string)
    };
    read().is_some_and(|kind| kind == "object")
}
