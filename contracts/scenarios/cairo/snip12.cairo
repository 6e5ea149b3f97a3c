// The hash that is signed, written once more: neither an error of the contract nor one of the sandbox is in it.
use core::poseidon::poseidon_hash_span;
use starknet::account::Call;

const DOMAIN_TYPE: felt252 = 0x1ff2f602e42168014d405a94f75e8a93d640751d71d16311266e140d8b0a210;
const EXECUTION_TYPE: felt252 = 0x312b56c05a7965066ddbda31c016d8d05afc305071c0ca3cdc2192c3c2f1f0f;
const CALL_TYPE: felt252 = 0x3635c7f2a7ba93844c0d064e18e487f35ab90f7c39d00f186a781fc3f0c2ca9;

pub fn execution_hash(caller: felt252, nonce: felt252, after: felt252, before: felt252, calls: Span<Call>) -> felt252 {
    let mut hashes = array![];
    for call in calls {
        hashes.append(call_hash(call));
    };
    let fields = array![EXECUTION_TYPE, caller, nonce, after, before, poseidon_hash_span(hashes.span())];
    poseidon_hash_span(fields.span())
}

pub fn message_hash(execution: felt252, chain_id: felt252, account: felt252) -> felt252 {
    let domain = array![DOMAIN_TYPE, 'Account.execute_from_outside', 2, chain_id, 1].span();
    poseidon_hash_span(array!['StarkNet Message', poseidon_hash_span(domain), account, execution].span())
}

fn call_hash(call: @Call) -> felt252 {
    poseidon_hash_span(array![CALL_TYPE, (*call.to).into(), *call.selector, poseidon_hash_span(*call.calldata)].span())
}
