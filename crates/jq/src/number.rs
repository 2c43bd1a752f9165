//! Numbers: doubles that remember how they were written for as long as nobody calculates with them.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(crate) enum Number {
    Double(f64),
    /// A number whose text says more than a double can hold.
    Literal(Rc<Literal>),
}

#[derive(Debug)]
pub(crate) struct Literal {
    value: f64,
    text: Box<str>,
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Double(value)
    }
}

impl Number {
    /// Reads a number that is known to be well formed.
    pub(crate) fn read(text: &str) -> Self {
        let value = text.parse().unwrap_or(f64::NAN);
        if is_plain(text) {
            return Self::Double(value);
        }
        let canonical = Decimal::read(text).to_text();
        if value.is_finite() && canonical == double_text(value) {
            return Self::Double(value);
        }
        Self::Literal(Rc::new(Literal { value, text: canonical.into() }))
    }

    pub(crate) fn value(&self) -> f64 {
        match self {
            Self::Double(value) => *value,
            Self::Literal(literal) => literal.value,
        }
    }

    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Self::Double(value) if value.is_nan() => out.push_str("null"),
            Self::Double(value) => write_double(*value, out),
            Self::Literal(literal) => out.push_str(&literal.text),
        }
    }

    pub(crate) fn negated(&self) -> Self {
        match self {
            Self::Double(value) => Self::Double(-value),
            Self::Literal(literal) => Self::Double(-literal.value),
        }
    }

    /// The order of numbers, in which a number that is none comes first.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        if let (Self::Literal(left), Self::Literal(right)) = (self, other)
            && left.value.total_cmp(&right.value).is_eq()
        {
            return Decimal::read(&left.text).cmp(&Decimal::read(&right.text));
        }
        let (left, right) = (self.value(), other.value());
        if left.is_nan() {
            return Ordering::Less;
        }
        left.partial_cmp(&right).unwrap_or(Ordering::Greater)
    }
}

/// Whether a double prints exactly as this text, which is so for most numbers people write.
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

    /// The number in scientific notation where plain digits would need zeros that were not written.
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
        if self.is_zero() && other.is_zero() {
            return Ordering::Equal;
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
