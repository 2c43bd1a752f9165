//! Expression operators: the eight of RFC 6570 (appendix A).

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Simple,
    Reserved,
    Fragment,
    Label,
    Path,
    Parameter,
    Query,
    Continuation,
}

impl Operator {
    /// The operator of this character at the start of an expression.
    pub(crate) fn of(sign: u8) -> Option<Self> {
        Some(match sign {
            b'+' => Self::Reserved,
            b'#' => Self::Fragment,
            b'.' => Self::Label,
            b'/' => Self::Path,
            b';' => Self::Parameter,
            b'?' => Self::Query,
            b'&' => Self::Continuation,
            _ => return None,
        })
    }

    /// The character before the first value.
    pub(crate) fn first(self) -> Option<u8> {
        Some(match self {
            Self::Simple | Self::Reserved => return None,
            Self::Fragment => b'#',
            Self::Label => b'.',
            Self::Path => b'/',
            Self::Parameter => b';',
            Self::Query => b'?',
            Self::Continuation => b'&',
        })
    }

    /// The character between values.
    pub(crate) fn separator(self) -> u8 {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => b',',
            Self::Label => b'.',
            Self::Path => b'/',
            Self::Parameter => b';',
            Self::Query | Self::Continuation => b'&',
        }
    }

    /// Whether values come as `name=value`.
    pub(crate) fn is_named(self) -> bool {
        matches!(self, Self::Parameter | Self::Query | Self::Continuation)
    }

    /// Which characters end a value, apart from the separator, when a URI is matched.
    pub(crate) fn ends_value(self, byte: u8) -> bool {
        match self {
            Self::Reserved | Self::Fragment => false,
            Self::Query | Self::Continuation => byte == b'#',
            Self::Simple | Self::Label | Self::Path | Self::Parameter => matches!(byte, b'/' | b'?' | b'#'),
        }
    }
}
