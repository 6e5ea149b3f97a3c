//! The account of an SVC wallet. docs/contract.md says what it promises and against whom.
//!
//! Each room holds its own storage and the rules over it; they meet in `account`.
pub mod account;
pub mod interface;
pub mod outside_execution;
pub mod owner;
pub mod policies;
pub mod protocol;
pub mod sessions;
pub mod signatures;
pub mod upgrade;
