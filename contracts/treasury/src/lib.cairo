//! The account of a treasury. docs/treasuries.md says what it promises and against whom.
//!
//! `outside_execution`, `protocol` and `signatures` are those of the wallet's account, in contracts/src.
pub mod interface;
pub mod limits;
pub mod outside_execution;
pub mod protocol;
pub mod signatures;
pub mod signers;
pub mod treasury;
