//! Who may come in by which door, and how calls go out.
use starknet::account::Call;
use starknet::syscalls::call_contract_syscall;
use starknet::{SyscallResultTrait, get_caller_address, get_contract_address, get_tx_info};

/// Added to the version of a transaction that is only estimated or simulated, so that its signature is good for
/// nothing else.
const QUERY_OFFSET: felt252 = 0x100000000000000000000000000000000;

/// `__execute__` trusts that `__validate__` has run. That holds for what the protocol itself starts:
/// - a contract that calls `__execute__` is a caller other than zero;
/// - the system call `meta_tx_v0` lets any contract call it with caller zero and a signature of its choosing, with no
///   `__validate__` before it, but always as version 0.
pub fn assert_started_by_protocol() {
    assert(get_caller_address().is_zero(), 'Account: invalid caller');
    let version = get_tx_info().unbox().version;
    assert(version == 3 || version == QUERY_OFFSET + 3, 'Account: invalid tx version');
}

/// What changes the account is called by the account, and so signed by its owner: a session's calls never come here
/// (see `sessions`), and a contract that the account calls is a caller of its own.
pub fn assert_self() {
    assert(get_caller_address() == get_contract_address(), 'Account: unauthorized');
}

/// One failing call fails them all. Nothing of the account is written after the first call went out, so a contract
/// that calls back finds every nonce, call and amount counted already.
pub fn execute_calls(mut calls: Span<Call>) -> Array<Span<felt252>> {
    let mut results = array![];
    while let Option::Some(call) = calls.pop_front() {
        results.append(call_contract_syscall(*call.to, *call.selector, *call.calldata).unwrap_syscall());
    };
    results
}
