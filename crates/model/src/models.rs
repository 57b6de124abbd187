//! Models written in Rust, as examples of the traits and as what the speed is measured on.

mod priority;
mod segmented;
mod slots;
mod stack;

pub use priority::PrioritySegments;
pub use segmented::{SegmentedBug, SegmentedQueue};
pub use slots::SlotQueue;
pub use stack::TreiberStack;

use crate::object::{ObjectEvent, Value};
use crate::objects::{PUT, TAKE};
use crate::system::Label;

/// A label for an event of a collection: the thread, what it does, the value.
pub fn label_of(event: ObjectEvent) -> Label {
    let (thread, kind, value) = match event {
        ObjectEvent::Call { thread, method, argument } => (thread, method, argument),
        ObjectEvent::Return { thread, result } => (thread, 2, result),
    };
    Label(2 + ((thread << 16) | (kind << 12) | value as u32))
}

/// The event of a label made by `label_of`.
pub fn event_of(label: Label) -> Option<ObjectEvent> {
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

/// Puts what stands at `order[i]` in place i: `Implementation::permute` for threads that are kept in a list.
pub fn reorder<T: Copy>(threads: &mut [T], order: &[u32]) {
    let old = threads.to_vec();
    for (thread, &from) in threads.iter_mut().zip(order) {
        *thread = old[from as usize];
    }
}

/// Visits data that is kept in bytes, where 0 is none: `Implementation::values`.
pub fn visit_bytes(data: impl IntoIterator<Item = u8>, visit: &mut dyn FnMut(Value)) {
    data.into_iter().filter(|&value| value != 0).for_each(|value| visit(Value::from(value)));
}

/// Renames data that is kept in bytes, where 0 is none: `Implementation::rename`.
pub fn rename_bytes<'a>(data: impl IntoIterator<Item = &'a mut u8>, name: &dyn Fn(Value) -> Value) {
    let data = data.into_iter().filter(|value| **value != 0);
    data.for_each(|value| *value = name(Value::from(*value)) as u8);
}
