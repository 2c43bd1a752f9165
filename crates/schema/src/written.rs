//! Written values: how `jsonschema` sees a [`Tree`], a value as it was written, accessed through a [`Meter`].
//!
//! When the meter says that a run is over, all values appear to be `null`. There is nothing left to descend into, and
//! the validator ends at once, with a meaningless outcome.

use crate::equality::{first_repeat, is_value};
use crate::literal::Literal;
use crate::meter::Meter;
use crate::tree::{Body, Member, Members, Tree};
use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;

/// The representation: JSON as it was written.
pub(crate) struct Written;

/// One run of a validator over one tree.
pub(crate) struct Run<'t> {
    root: &'t Tree<'t>,
    pub(crate) meter: Meter,
    value: OnceCell<Value>,
}

impl<'t> Run<'t> {
    pub(crate) fn new(root: &'t Tree<'t>, meter: Meter) -> Self {
        Self { root, meter, value: OnceCell::new() }
    }

    pub(crate) fn view(&'t self) -> View<'t> {
        View { tree: self.root, run: Some(self) }
    }
}

/// A value during a run.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    tree: &'a Tree<'a>,
    /// `None` for the name of a member, which the validator treats as a value.
    run: Option<&'a Run<'a>>,
}

/// Searching a string or an array takes about the time of one access for this many bytes.
const BYTES_PER_LOOK: usize = 8;

static NOTHING: Body<'static> = Body::Null;
static NULL: Value = Value::Null;

/// Counts an access, and the bytes it searches. False once the run is over.
fn look(run: Option<&Run<'_>>, bytes: usize) -> bool {
    run.is_none_or(|run| run.meter.look(bytes / BYTES_PER_LOOK))
}

impl<'a> View<'a> {
    fn body(&self) -> &'a Body<'a> {
        let bytes = if let Body::String(string) = &self.tree.body { string.len() } else { 0 };
        if look(self.run, bytes) { &self.tree.body } else { &NOTHING }
    }
}

impl Json for Written {
    type Node<'a> = View<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(View<'_>) -> T) -> T {
        f(View { tree: &Tree::of_name(string), run: None })
    }
}

impl<'a> Node<'a, Written> for View<'a> {
    type Object = Entries<'a>;
    type Array = Elements<'a>;
    type Number = Literal<'a>;

    fn as_object(&self) -> Option<Entries<'a>> {
        let Body::Object(members) = self.body() else { return None };
        Some(Entries { members, run: self.run })
    }

    fn as_array(&self) -> Option<Elements<'a>> {
        let Body::Array(list) = self.body() else { return None };
        Some(Elements { list, bytes: self.tree.text.len(), run: self.run })
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let Body::String(string) = self.body() else { return None };
        Some(Cow::Borrowed(string))
    }

    fn as_number(&self) -> Option<Literal<'a>> {
        matches!(self.body(), Body::Number).then_some(Literal(self.tree.text))
    }

    fn as_boolean(&self) -> Option<bool> {
        let Body::Boolean(boolean) = self.body() else { return None };
        Some(*boolean)
    }

    fn is_null(&self) -> bool {
        matches!(self.body(), Body::Null)
    }

    fn json_type(&self) -> JsonType {
        self.body().json_type()
    }

    fn equals_value(&self, expected: &Value) -> bool {
        look(self.run, 0) && is_value(self.tree, expected)
    }

    /// The validator copies this into its errors, from where we never read it: our own tree says what was given. So
    /// only two values are returned. The name of a member is one, because no tree has it. The root is the other: the
    /// validator follows a path from it when a regular expression fails, and relies on arriving.
    fn to_value(&self) -> Cow<'a, Value> {
        match (self.run, &self.tree.body) {
            (Some(run), _) if std::ptr::eq(run.root, self.tree) => {
                Cow::Borrowed(run.value.get_or_init(|| value_of(run.root)))
            }
            (None, Body::String(name)) => Cow::Owned(Value::String(name.to_string())),
            _ => Cow::Borrowed(&NULL),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(self.tree).addr()))
    }
}

fn value_of(tree: &Tree<'_>) -> Value {
    match &tree.body {
        Body::Null => Value::Null,
        Body::Boolean(boolean) => Value::Bool(*boolean),
        Body::Number => Literal(tree.text).to_number().into_owned().into(),
        Body::String(string) => Value::String(string.to_string()),
        Body::Array(elements) => elements.iter().map(value_of).collect(),
        Body::Object(members) => {
            members.list.iter().map(|member| (member.name.to_string(), value_of(&member.value))).collect()
        }
    }
}

pub(crate) struct Entries<'a> {
    members: &'a Members<'a>,
    run: Option<&'a Run<'a>>,
}

impl<'a> Object<'a, Written> for Entries<'a> {
    type Node = View<'a>;
    type MemberName = &'a str;
    type MembersIter = EntriesIter<'a>;

    fn len(&self) -> usize {
        self.members.list.len()
    }

    fn get(&self, key: &String) -> Option<View<'a>> {
        let tree = if look(self.run, 0) { self.members.get(key) } else { None };
        Some(View { tree: tree?, run: self.run })
    }

    fn members(&self) -> EntriesIter<'a> {
        EntriesIter { list: self.members.list.iter(), run: self.run }
    }
}

pub(crate) struct EntriesIter<'a> {
    list: std::slice::Iter<'a, Member<'a>>,
    run: Option<&'a Run<'a>>,
}

impl<'a> Iterator for EntriesIter<'a> {
    type Item = (&'a str, View<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let member = self.list.next().filter(|_| look(self.run, 0))?;
        Some((&member.name, View { tree: &member.value, run: self.run }))
    }
}

pub(crate) struct Elements<'a> {
    list: &'a [Tree<'a>],
    /// The length of their text in all.
    bytes: usize,
    run: Option<&'a Run<'a>>,
}

impl<'a> Array<'a, Written> for Elements<'a> {
    type Node = View<'a>;
    type ElementsIter = ElementsIter<'a>;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn elements(&self) -> ElementsIter<'a> {
        ElementsIter { list: self.list.iter(), run: self.run }
    }

    fn is_unique(&self) -> bool {
        look(self.run, self.bytes) && first_repeat(self.list).is_none()
    }
}

pub(crate) struct ElementsIter<'a> {
    list: std::slice::Iter<'a, Tree<'a>>,
    run: Option<&'a Run<'a>>,
}

impl<'a> Iterator for ElementsIter<'a> {
    type Item = View<'a>;

    fn next(&mut self) -> Option<View<'a>> {
        Some(View { tree: self.list.next().filter(|_| look(self.run, 0))?, run: self.run })
    }
}
