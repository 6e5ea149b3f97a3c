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

#[starknet::interface]
pub trait IAccount<T> {
    fn __validate__(self: @T, calls: Array<Call>) -> felt252;
    fn __execute__(ref self: T, calls: Array<Call>) -> Array<Span<felt252>>;
    fn __validate_declare__(self: @T, class_hash: felt252) -> felt252;
    fn __validate_deploy__(
        self: @T, class_hash: felt252, contract_address_salt: felt252, public_key: felt252
    ) -> felt252;
    fn is_valid_signature(self: @T, hash: felt252, signature: Array<felt252>) -> felt252;
    fn supports_interface(self: @T, interface_id: felt252) -> bool;
    fn execute_from_outside_v2(
        ref self: T, outside_execution: OutsideExecution, signature: Span<felt252>
    ) -> Array<Span<felt252>>;
}

#[starknet::interface]
pub trait IOutsideExecutionNonces<T> {
    fn is_valid_outside_execution_nonce(self: @T, nonce: felt252) -> bool;
}

#[starknet::interface]
pub trait IOwner<T> {
    fn get_public_key(self: @T) -> felt252;
    fn set_public_key(ref self: T, new_public_key: felt252);
}

#[starknet::interface]
pub trait ISessions<T> {
    fn add_or_update_session_key(
        ref self: T,
        session_key: felt252,
        valid_until: u64,
        max_calls: u32,
        allowed_entrypoints: Array<felt252>
    );
    fn revoke_session_key(ref self: T, session_key: felt252);
    /// `valid_until, max_calls, calls_used, allowed_entrypoints_len`; zeros for a key that is not registered.
    fn get_session_data(self: @T, session_key: felt252) -> (u64, u32, u32, u32);
    fn get_session_allowed_entrypoint_at(self: @T, session_key: felt252, index: u32) -> felt252;
}

#[starknet::interface]
pub trait ISpendingPolicies<T> {
    fn set_spending_policy(
        ref self: T,
        session_key: felt252,
        token: ContractAddress,
        max_per_call: u256,
        max_per_window: u256,
        window_seconds: u64
    );
    fn remove_spending_policy(ref self: T, session_key: felt252, token: ContractAddress);
    /// `max_per_call, max_per_window, window_seconds, spent_in_window, window_start`; zeros where there is none.
    fn get_spending_policy(
        self: @T, session_key: felt252, token: ContractAddress
    ) -> (u256, u256, u64, u256, u64);
}

#[starknet::interface]
pub trait IUpgrade<T> {
    fn upgrade(ref self: T, new_class_hash: ClassHash);
    fn perform_upgrade(ref self: T, new_implementation: ClassHash, data: Span<felt252>);
}
