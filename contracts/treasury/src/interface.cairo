//! Every entrypoint, and the types that travel through them.
use starknet::account::Call;
use starknet::{ClassHash, ContractAddress};

/// SNIP-9, version 2.
#[derive(Copy, Drop, Serde)]
pub struct OutsideExecution {
    pub caller: ContractAddress,
    pub nonce: felt252,
    pub execute_after: u64,
    pub execute_before: u64,
    pub calls: Span<Call>,
}

/// What `threshold` signers, fewer than for anything else, may transfer of a token within a window.
#[derive(Copy, Drop, Serde)]
pub struct LimitTerms {
    pub token: ContractAddress,
    pub threshold: u32,
    pub max_per_window: u256,
    pub window_seconds: u64,
}

#[starknet::interface]
pub trait ITreasury<T> {
    fn __validate__(self: @T, calls: Array<Call>) -> felt252;
    fn __execute__(ref self: T, calls: Array<Call>) -> Array<Span<felt252>>;
    fn is_valid_signature(self: @T, hash: felt252, signature: Array<felt252>) -> felt252;
    fn supports_interface(self: @T, interface_id: felt252) -> bool;
    fn execute_from_outside_v2(
        ref self: T, outside_execution: OutsideExecution, signature: Span<felt252>
    ) -> Array<Span<felt252>>;
    fn upgrade(ref self: T, new_class_hash: ClassHash);
}

#[starknet::interface]
pub trait IOutsideExecutionNonces<T> {
    fn is_valid_outside_execution_nonce(self: @T, nonce: felt252) -> bool;
}

#[starknet::interface]
pub trait ISigners<T> {
    fn get_signers(self: @T) -> Array<felt252>;
    fn get_threshold(self: @T) -> u32;
    fn is_signer(self: @T, public_key: felt252) -> bool;
    /// The whole list, in strictly increasing order.
    fn set_signers(ref self: T, signers: Array<felt252>, threshold: u32);
}

#[starknet::interface]
pub trait ILimits<T> {
    fn set_limit(ref self: T, terms: LimitTerms);
    fn remove_limit(ref self: T, token: ContractAddress);
    /// `threshold, max_per_window, window_seconds, spent_in_window, window_start`; zeros where there is none.
    fn get_limit(self: @T, token: ContractAddress) -> (u32, u256, u64, u256, u64);
}
