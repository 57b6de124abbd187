//! Which test matrices come, in which order, and how many.

use selvedge_protocol::{ObjectOptions, words};

use super::*;

fn asked(said: ObjectOptions) -> Options {
    Options { said, ..Options::default() }
}

fn calls(count: usize) -> Calls {
    Calls::new((0..count).map(|call| format!("c{call}()")).collect()).unwrap()
}

fn all(mut plan: Plan) -> Vec<(Stage, Matrix)> {
    std::iter::from_fn(|| plan.next_matrix()).collect()
}

#[test]
fn every_matrix_once_up_to_the_order_of_threads() {
    for (count, size) in [(1, 3), (2, 2), (3, 2), (2, 3)] {
        let options = asked(ObjectOptions { auto: Some(size), ..ObjectOptions::default() });
        let plan = Plan::new(&options, &calls(count), 1);
        let must = plan.must();
        let matrices = all(plan);
        let distinct: HashSet<Matrix> = matrices.iter().map(|(_, matrix)| matrix.clone().canonical()).collect();
        assert_eq!(distinct.len(), matrices.len(), "{count} {size}");
        // Counted another way: all orders of threads, then made one.
        let mut expected = HashSet::new();
        for size in 1..=size {
            let cells = size * size;
            for number in 0..(count as u64).pow(cells as u32) {
                let cell = |at: usize| CallId((number / (count as u64).pow(at as u32) % count as u64) as u16);
                let columns =
                    (0..size).map(|column| (0..size).map(|row| cell(column * size + row)).collect()).collect();
                expected.insert(Matrix::new(columns).canonical());
            }
        }
        assert_eq!(distinct, expected, "{count} {size}");
        assert_eq!(must, expected.len() as u64);
        let sizes: Vec<usize> = matrices.iter().map(|(_, matrix)| matrix.columns.len()).collect();
        assert!(sizes.is_sorted(), "smallest first");
        for size in 1..=size {
            let newest = matrices.iter().filter(|(_, matrix)| matrix.columns.len() == size);
            assert!(newest.map(|(_, matrix)| newest_call(&matrix.columns)).is_sorted(), "the list of calls grows");
        }
    }
}

#[test]
fn random_matrices_repeat_with_their_seed() {
    let options = asked(ObjectOptions {
        threads: Some(2),
        ops: Some(2),
        samples: Some(10),
        seed: Some(7),
        ..ObjectOptions::default()
    });
    let first = all(Plan::new(&options, &calls(3), 1));
    assert_eq!(first.len(), 10);
    assert_eq!(first, all(Plan::new(&options, &calls(3), 2)));
    let other = all(Plan::new(&asked(ObjectOptions { seed: Some(8), ..options.said.clone() }), &calls(3), 1));
    assert_ne!(first, other);
    let few = asked(ObjectOptions { samples: Some(1000), ..options.said });
    assert_eq!(all(Plan::new(&few, &calls(1), 1)).len(), 1, "there is only one");
}

#[test]
fn the_default_is_auto_then_random() {
    let matrices = all(Plan::new(&Options::default(), &calls(2), 1));
    let auto = matrices.iter().filter(|(stage, _)| matches!(stage, Stage::Auto(_))).count();
    assert_eq!((auto, matrices.len()), (2 + 10, 2 + 10 + 100));
    let plan = Plan::new(&Options::default(), &calls(20), 1);
    assert_eq!(plan.left_out, 13, "7 calls make 1,225 matrices of 2x2, 8 make 2,080");
    let given = Options { tests: vec![Matrix::new(vec![vec![CallId(0)]])], ..Options::default() };
    assert_eq!(all(Plan::new(&given, &calls(2), 1)).len(), 1);
}

#[test]
fn exclusive_groups_are_respected() {
    let mut calls = calls(2);
    calls.exclusive.push(vec![CallId(0)]);
    let matrices = all(Plan::new(&Options::default(), &calls, 1));
    assert!(matrices.iter().all(|(_, matrix)| matrix.respects(&[CallId(0)])));
    let enumerated = matrices.iter().filter(|(stage, _)| matches!(stage, Stage::Auto(_))).count();
    let plan = Plan::new(&Options::default(), &calls, 1);
    assert_eq!(plan.must(), enumerated as u64, "those that are left out are not counted");
    assert!(
        words::plan(&plan.record()).starts_with(&format!("all {enumerated} up to 2x2")),
        "{}",
        words::plan(&plan.record())
    );
}

#[test]
fn matrices_have_as_many_threads_as_may_make_calls() {
    // One producer, one consumer: `push(1), push(2)` and `pop()` are exclusive.
    let (mut free, mut calls) = (calls(4), calls(3));
    calls.exclusive = vec![vec![CallId(0), CallId(1)], vec![CallId(2)]];
    let respected = |matrix: &Matrix| calls.exclusive.iter().all(|group| matrix.respects(group));
    let auto = asked(ObjectOptions { auto: Some(3), ..ObjectOptions::default() });
    let plan = Plan::new(&auto, &calls, 1);
    let (must, says) = (plan.must(), words::plan(&plan.record()));
    let matrices = all(plan);
    assert!(matrices.iter().all(|(_, matrix)| respected(matrix)));
    let sizes: HashSet<(usize, usize)> =
        matrices.iter().map(|(_, matrix)| (matrix.columns.len(), matrix.columns[0].len())).collect();
    assert_eq!(sizes, HashSet::from([(1, 1), (2, 2), (2, 3)]));
    // A thread pushes 2^n ways, another pops: and at 1x1 there is one thread alone.
    assert_eq!((matrices.len(), must), (3 + 4 + 8, 3 + 4 + 8));
    assert_eq!(says, "all 15 up to 2x3");
    let random = asked(ObjectOptions { threads: Some(3), ops: Some(3), ..ObjectOptions::default() });
    let plan = Plan::new(&random, &calls, 1);
    assert_eq!(words::plan(&plan.record()), "100 random 2x3 (seed 1)");
    let matrices = all(plan);
    let pairs = matrices.iter().filter(|(_, matrix)| matrix.columns.len() == 2).count();
    assert_eq!(pairs, 8, "all that there are");
    assert!(matrices.iter().all(|(_, matrix)| respected(matrix) && matrix.columns.len() <= 2));
    // A call that anybody may make leaves room for any number of threads.
    free.exclusive.clone_from(&calls.exclusive);
    let wide = all(Plan::new(&auto, &free, 1)).into_iter().any(|(_, matrix)| matrix.columns.len() == 3);
    assert!(wide);
}
