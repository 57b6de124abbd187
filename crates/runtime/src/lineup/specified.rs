//! Which built-in object the object under test is held against, if one was named without a relaxation.
//!
//! Invariant: a sentence and exit code 2 come of everything that cannot be asked, before anything runs.

use selvedge_driver::BuiltInRecord;
use selvedge_lineup::{BuiltIn, K};

use super::object::Object;

/// Reads what the options say; nothing where the object's own serial behaviour is what counts.
pub fn built_in(object: &Object) -> Result<Option<BuiltIn>, String> {
    let options = &object.options;
    let approximate = options.approximate;
    if !options.quasi.is_empty() {
        return match approximate {
            None => Ok(None),
            Some(_) => Err("--approximate is about linearizability: leave --quasi out".into()),
        };
    }
    let Some(specification) = &options.specification else {
        return match approximate {
            None => Ok(None),
            Some(_) => Err(format!(
                "--approximate counts operations by the rules of a built-in object: say which one, such as --specification queue, \
                 .against(\"queue\") in Rust or SELVEDGE_OPTION({}, \"specification queue\") in C",
                object.name.split([':', '/', '.']).next().unwrap_or("object")
            )),
        };
    };
    if options.observations.is_some() || options.write_observations.is_some() {
        return Err("a built-in specification takes the place of serial histories: leave those of a file out".into());
    }
    BuiltIn::new(specification, approximate, &object.calls).map(Some).map_err(|error| error.to_string())
}

/// What a report says of it.
pub fn record(built_in: &BuiltIn) -> BuiltInRecord {
    let BuiltIn { kind, initial, approximate } = built_in;
    BuiltInRecord {
        specification: match initial {
            None => kind.name().to_owned(),
            Some(initial) => format!("{}={initial}", kind.name()),
        },
        approximate: approximate.is_some(),
        k: approximate.unwrap_or(K),
        counted: 0,
    }
}
