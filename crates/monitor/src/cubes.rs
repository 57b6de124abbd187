//! What went in and what came out, compared by one number each: the sum of the cubes of all stamps.
//!
//! Stamps are odd, and different odd numbers have different cubes in 64 bits, so one value too many with another one lost is always seen. Several such pairs have the same sum
//! only by accident: of stamps that are close to each other their sums, the sums of their squares and those of their cubes would all have to agree. The sum over an unbroken row of stamps has a closed form,
//! so that an operation that goes on with the row needs to add up nothing.
//!
//! Invariant: `row` is the sum of `cube` over the same stamps.

/// The cube of a stamp.
#[inline]
pub fn cube(stamp: u64) -> u64 {
    stamp.wrapping_mul(stamp).wrapping_mul(stamp)
}

/// The sum of the cubes of `count` numbers, from the first on, each greater by `step`.
pub fn row(first: u64, step: u64, count: u64) -> u64 {
    let Some(last) = count.checked_sub(1) else { return 0 };
    // 0 + 1 + ... + last, and the same of squares; that of cubes is the first one squared.
    let numbers = product([last, count, 1], false);
    let squares = product([last, count, count.wrapping_mul(2).wrapping_sub(1)], true);
    let (first_square, step_square) = (first.wrapping_mul(first), step.wrapping_mul(step));
    let terms = [
        [count, first_square, first, 1],
        [numbers, first_square, step, 3],
        [squares, first, step_square, 3],
        [numbers.wrapping_mul(numbers), step_square, step, 1],
    ];
    terms
        .iter()
        .map(|factors| factors.iter().fold(1, |all: u64, one| all.wrapping_mul(*one)))
        .fold(0, u64::wrapping_add)
}

/// The product by 2, and by 3 if asked: divided before it is wrapped, where one of the factors can be.
fn product(mut factors: [u64; 3], by_three: bool) -> u64 {
    for divisor in if by_three { &[2, 3][..] } else { &[2] } {
        let divided = factors.iter_mut().find(|factor| factor.is_multiple_of(*divisor));
        *divided.expect("one of the factors is a multiple") /= divisor;
    }
    factors.into_iter().fold(1, u64::wrapping_mul)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::draw::Draw;

    #[test]
    fn a_row_is_the_sum_of_its_cubes() {
        let mut draw = Draw::new(7);
        for count in (0..200).chain([1_000, 4_097]) {
            for shift in [0, 20, 50] {
                let (first, step) = ((draw.below(1_000) as u64) << shift | 1, 2 << draw.below(12));
                let sum = (0..count).map(|number| cube(first + number * step)).fold(0, u64::wrapping_add);
                assert_eq!(row(first, step, count), sum, "{count} from {first} by {step}");
            }
        }
    }

    /// Two halves of a row that is too long to be added up are the row.
    #[test]
    fn long_rows_are_their_parts() {
        for count in [1u64 << 40, (1 << 43) + 5, (1 << 44) - 1] {
            for half in [1, count / 3, count / 2, count - 1] {
                let parts = row(513, 512, half).wrapping_add(row(513 + half * 512, 512, count - half));
                assert_eq!(row(513, 512, count), parts, "{half} and the rest of {count}");
            }
        }
    }

    /// One too many and another one lost: no two of these have the same cube.
    #[test]
    fn cubes_differ() {
        let stamps: HashSet<u64> =
            (0..63).flat_map(|shift| (0..40).map(move |low| (1 << shift) | (2 * low + 1))).collect();
        let cubes: HashSet<u64> = stamps.iter().map(|stamp| cube(*stamp)).collect();
        assert_eq!(cubes.len(), stamps.len());
    }
}
