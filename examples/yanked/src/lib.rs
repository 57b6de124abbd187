//! Nothing: the tests are what there is to see.
