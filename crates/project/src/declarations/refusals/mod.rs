//! Refusals: what known clients or model APIs refuse, though we serve it. `rules` is the table, `names` finds the affected
//! names. The search warns about names, and the checks warn about everything.

pub(crate) mod names;
pub(crate) mod rules;
