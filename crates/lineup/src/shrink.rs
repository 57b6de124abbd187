//! Smaller matrices to try when one fails: a thread less, or a call less.
//!
//! By lemma 8 of the paper a matrix that fails has longer ones that fail, never the other way round, so going down one step
//! at a time until nothing smaller fails ends at a matrix from which nothing can be taken away.

use crate::matrix::Matrix;

/// Every matrix with one thread less, then with one call less; the threads that are left empty are gone.
pub fn smaller(matrix: &Matrix) -> Vec<Matrix> {
    let mut all = Vec::new();
    let mut add = |candidate: Matrix| {
        if !candidate.columns.is_empty() && !all.contains(&candidate) {
            all.push(candidate);
        }
    };
    for at in 0..matrix.columns.len() {
        let mut less = matrix.clone();
        less.columns.remove(at);
        add(less);
    }
    let parts = [(&matrix.initial, 0), (&matrix.last, 1)];
    for (part, which) in parts {
        for at in 0..part.len() {
            let mut less = matrix.clone();
            if which == 0 { &mut less.initial } else { &mut less.last }.remove(at);
            add(less);
        }
    }
    for column in 0..matrix.columns.len() {
        for at in 0..matrix.columns[column].len() {
            let mut less = matrix.clone();
            less.columns[column].remove(at);
            less.columns.retain(|column| !column.is_empty());
            add(less);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::CallId;

    #[test]
    fn one_thing_less_each_time() {
        let column = |calls: &[u16]| calls.iter().map(|&call| CallId(call)).collect::<Vec<_>>();
        let matrix = Matrix { initial: column(&[5]), columns: vec![column(&[1, 2]), column(&[3])], last: vec![] };
        let found: Vec<(usize, usize)> = smaller(&matrix).iter().map(|less| (less.columns.len(), less.len())).collect();
        assert_eq!(found, [(1, 2), (1, 3), (2, 3), (2, 3), (2, 3)], "the second thread is gone with its only call");
        assert_eq!(smaller(&Matrix::new(vec![column(&[1])])), []);
    }
}
