//! Numbers: doubles that keep their original text until a filter calculates with them.
//!
//! Two literal numbers are compared by all their digits, so that long identifiers stay distinct. A calculated number is
//! only known as a double; if one of the two was calculated, both are compared as doubles.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(crate) enum Number {
    /// The result of a calculation.
    Computed(f64),
    /// A number that was written exactly as a double is written.
    Plain(f64),
    /// A number whose text holds more than a double can.
    Literal(Rc<Literal>),
}

#[derive(Debug)]
pub(crate) struct Literal {
    value: f64,
    text: Box<str>,
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Computed(value)
    }
}

impl Number {
    /// Reads a number that is known to be well formed.
    pub(crate) fn read(text: &str) -> Self {
        let value = text.parse().unwrap_or(f64::NAN);
        if is_plain(text) {
            return Self::Plain(value);
        }
        let canonical = Decimal::read(text).to_text();
        if value.is_finite() && canonical == double_text(value) {
            return Self::Plain(value);
        }
        Self::Literal(Rc::new(Literal { value, text: canonical.into() }))
    }

    pub(crate) fn value(&self) -> f64 {
        match self {
            Self::Computed(value) | Self::Plain(value) => *value,
            Self::Literal(literal) => literal.value,
        }
    }

    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Self::Computed(value) | Self::Plain(value) if value.is_nan() => out.push_str("null"),
            Self::Computed(value) | Self::Plain(value) => write_double(*value, out),
            Self::Literal(literal) => out.push_str(&literal.text),
        }
    }

    /// The number with the other sign. A literal zero has none.
    pub(crate) fn negated(&self) -> Self {
        let opposite = |value: f64| if value == 0.0 { 0.0 } else { -value };
        match self {
            Self::Computed(value) => Self::Computed(-value),
            Self::Plain(value) => Self::Plain(opposite(*value)),
            Self::Literal(literal) => {
                let text = match literal.text.strip_prefix('-') {
                    Some(digits) => digits.into(),
                    None if Decimal::read(&literal.text).is_zero() => literal.text.clone(),
                    None => format!("-{}", literal.text).into(),
                };
                Self::Literal(Rc::new(Literal { value: opposite(literal.value), text }))
            }
        }
    }

    /// The number without its sign.
    pub(crate) fn magnitude(&self) -> Self {
        match self {
            Self::Computed(value) => Self::Computed(value.abs()),
            Self::Plain(value) => Self::Plain(value.abs()),
            Self::Literal(literal) if literal.text.starts_with('-') => self.negated(),
            Self::Literal(_) => self.clone(),
        }
    }

    /// How numbers compare. NaN is less than all others, and than itself.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let (left, right) = (self.value(), other.value());
        match left.partial_cmp(&right) {
            Some(Ordering::Equal) if self.is_written() && other.is_written() => self.order_of_digits(other),
            Some(order) => order,
            None if left.is_nan() => Ordering::Less,
            None => Ordering::Greater,
        }
    }

    /// The order in which numbers are sorted. Unlike [`Self::order`] it never contradicts itself: a calculated number
    /// has the one place that its digits give it, and NaNs are next to each other.
    pub(crate) fn sort_order(&self, other: &Self) -> Ordering {
        let (left, right) = (self.value(), other.value());
        match left.partial_cmp(&right) {
            Some(Ordering::Equal) => self.order_of_digits(other),
            Some(order) => order,
            None => right.is_nan().cmp(&left.is_nan()),
        }
    }

    fn is_written(&self) -> bool {
        !matches!(self, Self::Computed(_))
    }

    /// The order of two numbers that are the same double.
    fn order_of_digits(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Literal(_), _) | (_, Self::Literal(_)) => self.decimal().cmp(&other.decimal()),
            _ => Ordering::Equal,
        }
    }

    fn decimal(&self) -> Decimal {
        match self {
            Self::Literal(literal) => Decimal::read(&literal.text),
            Self::Computed(value) | Self::Plain(value) => Decimal::read(&double_text(*value)),
        }
    }
}

/// Whether a double prints exactly as this text, which is so for most numbers in practice.
fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    match digits.split_once('.') {
        _ if digits.len() > 15 => false,
        None => all_digits(digits) && (digits == "0" || !digits.starts_with('0')),
        Some((whole, fraction)) => {
            all_digits(whole)
                && all_digits(fraction)
                && !fraction.ends_with('0')
                && (!whole.starts_with('0') || (whole == "0" && !fraction.starts_with('0')))
        }
    }
}

/// A decimal number as it was written: digits and the power of ten of the last one.
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn read(text: &str) -> Self {
        let negative = text.starts_with('-');
        let text = text.trim_start_matches(['-', '+']);
        let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits = format!("{whole}{fraction}");
        let zeros = digits.bytes().take_while(|byte| *byte == b'0').count();
        digits.drain(..zeros.min(digits.len().saturating_sub(1)));
        let power: i64 =
            power.parse().unwrap_or(if power.starts_with('-') { i64::MIN / 4 } else { i64::MAX / 4 });
        let exponent = power - i64::try_from(fraction.len()).unwrap_or(i64::MAX / 4);
        Self { negative, digits, exponent }
    }

    /// The power of ten of the first digit.
    fn magnitude(&self) -> i64 {
        self.exponent + i64::try_from(self.digits.len()).unwrap_or(i64::MAX / 4) - 1
    }

    /// The number in scientific notation if plain digits would need zeros that were not written.
    fn to_text(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let magnitude = self.magnitude();
        if self.exponent > 0 || magnitude < -6 {
            let (first, rest) = self.digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            return format!("{sign}{first}{point}{rest}E{magnitude:+}");
        }
        if self.exponent == 0 {
            return format!("{sign}{}", self.digits);
        }
        let places = usize::try_from(-self.exponent).unwrap_or(0);
        let padded = format!("{:0>width$}", self.digits, width = places + 1);
        let (whole, fraction) = padded.split_at(padded.len() - places);
        format!("{sign}{whole}.{fraction}")
    }

    fn is_zero(&self) -> bool {
        self.digits.bytes().all(|byte| byte == b'0')
    }

    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return if other.negative { Ordering::Greater } else { Ordering::Less },
            (false, true) => return if self.negative { Ordering::Less } else { Ordering::Greater },
            (false, false) => {}
        }
        if self.negative != other.negative {
            return other.negative.cmp(&self.negative);
        }
        let (left, right) = (self.digits.trim_end_matches('0'), other.digits.trim_end_matches('0'));
        let order = self.magnitude().cmp(&other.magnitude()).then_with(|| left.cmp(right));
        if self.negative { order.reverse() } else { order }
    }
}

fn double_text(value: f64) -> String {
    let mut text = String::new();
    write_double(value, &mut text);
    text
}

/// The shortest digits that read back as the same double, in the notation jq chooses.
fn write_double(value: f64, out: &mut String) {
    let value = value.clamp(f64::MIN, f64::MAX);
    let scientific = format!("{value:e}");
    let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    if value.is_sign_negative() {
        out.push('-');
    }
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = i32::try_from(digits.len()).unwrap_or(17);
    let point = power + 1;
    if value != 0.0 && (point <= -4 || point > count + 15) {
        let (first, rest) = digits.split_at(1);
        let separator = if rest.is_empty() { "" } else { "." };
        let sign = if power < 0 { '-' } else { '+' };
        let _ = write!(out, "{first}{separator}{rest}e{sign}{:02}", power.abs());
    } else if point <= 0 {
        out.push_str("0.");
        (point..0).for_each(|_| out.push('0'));
        out.push_str(&digits);
    } else {
        let split = usize::try_from(point).unwrap_or(0);
        if split < digits.len() {
            out.push_str(&digits[..split]);
            out.push('.');
            out.push_str(&digits[split..]);
        } else {
            out.push_str(&digits);
            (digits.len()..split).for_each(|_| out.push('0'));
        }
    }
}
