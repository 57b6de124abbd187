//! Models written in Rust, as examples of the traits and as what the speed is measured on.

mod segmented;
mod slots;

pub use segmented::{SegmentedBug, SegmentedQueue};
pub use slots::SlotQueue;

use crate::object::{ObjectEvent, Value};
use crate::objects::{PUT, TAKE};
use crate::system::Label;

/// A label for an event of a collection: the thread, what it does, the value.
fn label_of(event: ObjectEvent) -> Label {
    let (thread, kind, value) = match event {
        ObjectEvent::Call { thread, method, argument } => (thread, method, argument),
        ObjectEvent::Return { thread, result } => (thread, 2, result),
    };
    Label(2 + ((thread << 16) | (kind << 12) | value as u32))
}

/// The event of a label made by `label_of`.
fn event_of(label: Label) -> Option<ObjectEvent> {
    let code = label.0.checked_sub(2)?;
    let (thread, kind, value) = (code >> 16, (code >> 12) & 0xF, (code & 0xFFF) as Value);
    Some(match kind {
        2 => ObjectEvent::Return { thread, result: value },
        method => ObjectEvent::Call { thread, method, argument: value },
    })
}

/// The name of such a label.
fn name_of(label: Label, put: &str, take: &str) -> String {
    match event_of(label) {
        None if label == Label::TAU => "tau".to_string(),
        None => "tick".to_string(),
        Some(ObjectEvent::Call { method: PUT, argument, .. }) => format!("call {put}({argument})"),
        Some(ObjectEvent::Call { method: TAKE, .. }) => format!("call {take}()"),
        Some(ObjectEvent::Call { method, .. }) => format!("call m{method}"),
        Some(ObjectEvent::Return { result, .. }) => format!("return {result}"),
    }
}
