//! Events as a reader of the chain sees them.
use starknet::ContractAddress;
use starknet::testing::pop_log_raw;

/// The oldest event that was not looked at yet.
pub fn assert_event(from: ContractAddress, mut keys: Span<felt252>, mut data: Span<felt252>) {
    let (found_keys, found_data) = pop_log_raw(from).expect('an event is missing');
    assert(found_keys == keys, 'keys of the event');
    assert(found_data == data, 'data of the event');
}

pub fn assert_no_event(from: ContractAddress) {
    assert(pop_log_raw(from).is_none(), 'an event too many');
}
