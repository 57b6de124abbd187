//! Which built-in object the object under test is held against, if one was named without a relaxation.
//!
//! Invariant: an error comes of everything that cannot be asked, before anything runs.

use selvedge_lineup::{BuiltIn, K};
use selvedge_protocol::{BuiltInRecord, ObjectTrouble};

use super::object::{Object, wrong};

/// Reads what the options say; nothing where the object's own serial behaviour is what counts.
pub fn built_in(object: &Object) -> Result<Option<BuiltIn>, ObjectTrouble> {
    let options = &object.options.said;
    let approximate = options.approximate;
    if !options.quasi.is_empty() {
        return match approximate {
            None => Ok(None),
            Some(_) => Err(ObjectTrouble::ApproximateQuasi),
        };
    }
    let Some(specification) = &options.specification else {
        return match approximate {
            None => Ok(None),
            Some(_) => Err(ObjectTrouble::ApproximateAlone { object: object.name.clone() }),
        };
    };
    if options.observations.is_some() || options.write_observations.is_some() {
        return Err(ObjectTrouble::SpecificationAndFile);
    }
    BuiltIn::new(specification, approximate, &object.calls).map(Some).map_err(wrong)
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
