//! Exact fractions of 128-bit integers.
//!
//! Invariant: a fraction is in lowest terms with a positive denominator, so equal fractions are equal values. Every operation
//! answers `None` rather than a wrong number when it does not fit: whoever computes with fractions then knows nothing.

/// A fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rational {
    over: i128,
    under: i128,
}

impl Rational {
    /// Nothing.
    pub const ZERO: Rational = Rational { over: 0, under: 1 };

    /// The integer as a fraction.
    pub const fn whole(number: i128) -> Self {
        Rational { over: number, under: 1 }
    }

    fn reduced(over: i128, under: i128) -> Option<Self> {
        let divisor = gcd(over.unsigned_abs(), under.unsigned_abs());
        let divisor = i128::try_from(divisor).ok()?;
        let sign = if under < 0 { -1 } else { 1 };
        Some(Rational { over: (over / divisor).checked_mul(sign)?, under: (under / divisor).checked_mul(sign)? })
    }

    /// Whether the number is zero.
    pub fn is_zero(self) -> bool {
        self.over == 0
    }

    /// Whether the number is less than zero.
    pub fn is_negative(self) -> bool {
        self.over < 0
    }

    /// Whether the number is greater than zero.
    pub fn is_positive(self) -> bool {
        self.over > 0
    }

    /// The integer, if the fraction is one.
    pub fn as_whole(self) -> Option<i128> {
        (self.under == 1).then_some(self.over)
    }

    /// The largest integer that is not greater than the number.
    pub fn floor(self) -> i128 {
        self.over.div_euclid(self.under)
    }

    /// The difference.
    pub fn minus(self, other: Self) -> Option<Self> {
        if self.under == other.under {
            let over = self.over.checked_sub(other.over)?;
            return if self.under == 1 { Some(Rational::whole(over)) } else { Self::reduced(over, self.under) };
        }
        let left = self.over.checked_mul(other.under)?;
        let right = other.over.checked_mul(self.under)?;
        Self::reduced(left.checked_sub(right)?, self.under.checked_mul(other.under)?)
    }

    /// The product.
    pub fn times(self, other: Self) -> Option<Self> {
        let over = self.over.checked_mul(other.over)?;
        if self.under == 1 && other.under == 1 {
            return Some(Rational::whole(over));
        }
        Self::reduced(over, self.under.checked_mul(other.under)?)
    }

    /// The quotient; `None` also when dividing by zero.
    pub fn over(self, other: Self) -> Option<Self> {
        if other.over == 0 {
            return None;
        }
        self.times(Self::reduced(other.under, other.over)?)
    }

    /// Whether the number is less than the other.
    pub fn is_below(self, other: Self) -> Option<bool> {
        Some(self.minus(other)?.is_negative())
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fraction(over: i128, under: i128) -> Rational {
        Rational::reduced(over, under).unwrap()
    }

    #[test]
    fn fractions_are_exact() {
        let third = fraction(1, 3);
        assert_eq!(third.minus(fraction(-1, 6)), Some(fraction(1, 2)));
        assert_eq!(third.times(fraction(3, -2)), Some(fraction(-1, 2)));
        assert_eq!(third.over(fraction(-2, 3)), Some(fraction(-1, 2)));
        assert_eq!((third.floor(), fraction(-1, 3).floor(), Rational::whole(-2).floor()), (0, -1, -2));
        assert_eq!(third.is_below(fraction(2, 5)), Some(true));
        assert_eq!((fraction(4, 2).as_whole(), third.as_whole()), (Some(2), None));
    }

    #[test]
    fn what_does_not_fit_is_not_a_number() {
        let huge = Rational::whole(i128::MAX);
        assert_eq!(huge.times(huge), None);
        assert_eq!(huge.minus(Rational::whole(-1)), None);
        assert_eq!(huge.over(Rational::ZERO), None);
    }
}
