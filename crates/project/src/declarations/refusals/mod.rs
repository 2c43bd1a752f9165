//! What known clients or model APIs refuse, though we serve it: a table of it (`rules`), and which names are concerned. The
//! search warns of names, and the checks of all of it.

pub(crate) mod names;
pub(crate) mod rules;
