//! What the tests share.
pub mod contracts;
pub mod events;
pub mod signing;
pub mod wallet;
