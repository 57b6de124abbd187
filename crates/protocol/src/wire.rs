//! How values are written on the way between processes: as JSON. The only place where a report, settings or a finding is read or written.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value as the other side reads it.
pub fn encode<T: Serialize>(value: &T) -> String {
    // Types of this crate have no keys that are not texts, which is all that could fail.
    serde_json::to_string(value).unwrap_or_default()
}

/// A value as the other side wrote it. The error says what is wrong with the text.
pub fn decode<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// The same from bytes that a pipe carried.
pub fn decode_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}
