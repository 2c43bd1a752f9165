//! Marks: which members or elements of a value the rules of a schema have evaluated, for `unevaluatedProperties` and
//! `unevaluatedItems`.

#[derive(Default)]
pub(crate) struct Marks {
    all: bool,
    /// By the position of the member or element.
    each: Vec<bool>,
}

impl Marks {
    pub(crate) fn mark(&mut self, place: usize) {
        if self.all {
            return;
        }
        if self.each.len() <= place {
            self.each.resize(place + 1, false);
        }
        self.each[place] = true;
    }

    pub(crate) fn mark_all(&mut self) {
        self.all = true;
    }

    pub(crate) fn is_marked(&self, place: usize) -> bool {
        self.all || self.each.get(place).copied().unwrap_or_default()
    }

    /// Adds the marks of a schema that fits the same value.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.all |= other.all;
        for (place, _) in other.each.iter().enumerate().filter(|(_, is_marked)| **is_marked) {
            self.mark(place);
        }
    }
}
