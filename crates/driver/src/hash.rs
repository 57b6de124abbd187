//! Numbers that tell files apart: the same for the same bytes in every version of the tool. Nothing is protected by them.

/// Eight bytes at a time, since a runtime with debug information has a hundred million of them. Each step can be undone, so files of one length that differ in one place
/// never come out the same.
pub fn hash_of_file(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut state = hash(rest) ^ bytes.len() as u64;
    for word in words {
        state = (state.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state ^= state >> 29;
    }
    state
}

/// FNV-1a: the same for the same bytes in every version of the tool. Findings are compared by it, nothing is protected.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_known_one() {
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn files_that_differ_in_one_bit_are_told_apart() {
        let bytes: Vec<u8> = (0..83).collect();
        let mut seen = std::collections::HashSet::from([hash_of_file(&bytes), hash_of_file(&bytes[..82])]);
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(hash_of_file(&other)), "bit {bit}");
        }
    }
}
