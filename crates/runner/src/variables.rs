//! Environment of a process, in the layout that `execve` takes, so that the part which all calls share is copied as a
//! whole.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// The usual size of the variables that are added to a copy, in bytes.
const ROOM: usize = 1024;

/// Variables and their values. Names are unique.
#[derive(Debug, Default)]
pub struct Variables {
    /// `NAME=value` and a NUL, one after the other. A value that was replaced is not removed.
    text: Vec<u8>,
    /// Where each variable starts, and how long its name is.
    places: Vec<(usize, usize)>,
    /// The name of a variable that cannot be passed to a process.
    impossible: Option<String>,
    /// The descriptors that the process inherits under the same numbers. None for most.
    descriptors: Vec<Arc<OwnedFd>>,
}

/// The lowest number of an inherited descriptor. Lower ones are the standard streams, and those that shells use.
const LOWEST_DESCRIPTOR: RawFd = 10;

impl PartialEq for Variables {
    /// Descriptors are part of the values that name them.
    fn eq(&self, other: &Self) -> bool {
        (&self.text, &self.places, &self.impossible) == (&other.text, &other.places, &other.impossible)
    }
}

impl Eq for Variables {}

impl Variables {
    /// Sets a variable, and replaces the value it had.
    pub fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        let (name, value) = (name.as_ref().as_bytes(), value.as_ref().as_bytes());
        if name.is_empty() || memchr::memchr2(0, b'=', name).is_some() || memchr::memchr(0, value).is_some() {
            self.impossible = Some(String::from_utf8_lossy(name).into_owned());
        }
        let place = (self.text.len(), name.len());
        match self.index_of(name) {
            Some(index) => self.places[index] = place,
            None => self.places.push(place),
        }
        for part in [name, b"=", value, b"\0"] {
            self.text.extend_from_slice(part);
        }
    }

    /// Sets a variable to the path of a descriptor, which the process inherits.
    pub fn set_descriptor(&mut self, name: impl AsRef<OsStr>, descriptor: &OwnedFd) -> io::Result<()> {
        let inherited = rustix::io::fcntl_dupfd_cloexec(descriptor, LOWEST_DESCRIPTOR)?;
        self.set(name, format!("/dev/fd/{}", inherited.as_raw_fd()));
        self.descriptors.push(Arc::new(inherited));
        Ok(())
    }

    /// The descriptors that the process inherits.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.descriptors.iter().map(AsRawFd::as_raw_fd)
    }

    pub fn remove(&mut self, name: impl AsRef<OsStr>) {
        if let Some(index) = self.index_of(name.as_ref().as_bytes()) {
            self.places.remove(index);
        }
    }

    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        let name = name.as_ref().as_bytes();
        let (start, length) = self.places[self.index_of(name)?];
        let value = self.from(start).get(length + 1..)?;
        value.strip_suffix(b"\0").map(OsStr::from_bytes)
    }

    pub fn names(&self) -> impl Iterator<Item = &OsStr> {
        self.places.iter().map(|(start, length)| OsStr::from_bytes(&self.text[*start..start + length]))
    }

    /// The name of a variable that cannot be passed to a process: an invalid name, or a value that holds a NUL.
    pub(crate) fn impossible(&self) -> Option<&str> {
        self.impossible.as_deref()
    }

    /// Each variable as `NAME=value` and a NUL.
    pub(crate) fn laid_out(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|(start, _)| self.from(*start))
    }

    fn index_of(&self, name: &[u8]) -> Option<usize> {
        self.places
            .iter()
            .position(|(start, length)| *length == name.len() && self.text[*start..].starts_with(name))
    }

    /// A variable up to its NUL.
    fn from(&self, start: usize) -> &[u8] {
        let rest = &self.text[start..];
        memchr::memchr(0, rest).map_or(rest, |end| &rest[..=end])
    }
}

/// A copy has spare capacity, because copies are made to add variables.
impl Clone for Variables {
    fn clone(&self) -> Self {
        let mut text = Vec::with_capacity(2 * self.text.len() + ROOM);
        text.extend_from_slice(&self.text);
        let mut places = Vec::with_capacity(2 * self.places.len());
        places.extend_from_slice(&self.places);
        Self { text, places, impossible: self.impossible.clone(), descriptors: self.descriptors.clone() }
    }
}

impl<N: AsRef<OsStr>, V: AsRef<OsStr>> Extend<(N, V)> for Variables {
    fn extend<T: IntoIterator<Item = (N, V)>>(&mut self, variables: T) {
        for (name, value) in variables {
            self.set(name, value);
        }
    }
}

impl FromIterator<(OsString, OsString)> for Variables {
    fn from_iter<T: IntoIterator<Item = (OsString, OsString)>>(variables: T) -> Self {
        let mut all = Self::default();
        all.extend(variables);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(variables: &Variables) -> Vec<&str> {
        variables.laid_out().map(|variable| std::str::from_utf8(variable).unwrap()).collect()
    }

    #[test]
    fn a_later_value_takes_the_place_of_an_earlier_one() {
        let mut variables = Variables::default();
        variables.extend([("A", "1"), ("AB", "2"), ("B", "")]);
        variables.set("A", "3=3");
        assert_eq!(shown(&variables), ["A=3=3\0", "AB=2\0", "B=\0"]);
        assert_eq!(variables.get("A"), Some(OsStr::new("3=3")));
        assert_eq!(variables.get("B"), Some(OsStr::new("")));
        assert_eq!(variables.get("C"), None);
        assert_eq!(variables.impossible(), None);
    }

    #[test]
    fn variables_that_no_process_can_receive_are_named() {
        for (name, value) in [("A", "x\0y"), ("", "x"), ("A=B", "x"), ("A\0", "x")] {
            let mut variables = Variables::default();
            variables.set(name, value);
            variables.set("C", "fine");
            assert_eq!(variables.impossible(), Some(name));
        }
    }
}
