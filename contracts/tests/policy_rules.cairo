//! The arithmetic of a policy, and what it takes for spending.
use starknet::account::Call;
use starknet::contract_address_const;
use crate::policies::{Policy, amount_at, amount_index, spend};

const LARGEST: u256 = 0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff;
const HALF: u256 = 0x100000000000000000000000000000000;

fn policy(max_per_call: u256, max_per_window: u256) -> Policy {
    Policy { max_per_call, max_per_window, window_seconds: 100, spent_in_window: 0, window_start: 1000 }
}

fn index(selector: felt252, calldata: Array<felt252>) -> u32 {
    let call = Call { to: contract_address_const::<0x70>(), selector, calldata: calldata.span() };
    amount_index(@call, contract_address_const::<0xacc>()).unwrap_or(0)
}

#[test]
fn spending_is_what_gives_tokens_away_or_the_right_to_take_them() {
    for selector in array![
        selector!("transfer"), selector!("approve"), selector!("increase_allowance"), selector!("increaseAllowance")
    ] {
        assert(index(selector, array![0xb0b, 1, 0]) == 1, selector);
        assert(index(selector, array![]) == 1, selector);
    };
    for selector in array![
        selector!("balance_of"), selector!("decrease_allowance"), selector!("mint"), selector!("swap"), 0
    ] {
        assert(index(selector, array![0xacc, 0xb0b, 1, 0]) == 0, selector);
    };
}

#[test]
fn taking_from_the_account_itself_is_spending_and_from_others_is_not() {
    for selector in array![selector!("transfer_from"), selector!("transferFrom")] {
        assert(index(selector, array![0xacc, 0xb0b, 1, 0]) == 2, 'of the account');
        assert(index(selector, array![0xacc]) == 2, 'malformed, of the account');
        assert(index(selector, array![0xabc, 0xacc, 1, 0]) == 0, 'of somebody');
        assert(index(selector, array![]) == 0, 'of nobody');
    };
}

#[test]
fn amounts_have_two_halves() {
    assert(amount_at(array![0xb0b, 5, 0].span(), 1) == 5, 'the low half');
    assert(amount_at(array![0xb0b, 0, 1].span(), 1) == HALF, 'the high half');
    assert(amount_at(array![1, 2, 7, 1].span(), 2) == HALF + 7, 'at its place');
    let half = 0xffffffffffffffffffffffffffffffff;
    assert(amount_at(array![0xb0b, half, half].span(), 1) == LARGEST, 'the largest');
}

#[test]
#[should_panic(expected: ('Spending: bad calldata',))]
fn a_low_half_beyond_its_bits_is_no_amount() {
    amount_at(array![0xb0b, 0x100000000000000000000000000000000, 0].span(), 1);
}

#[test]
#[should_panic(expected: ('Spending: bad calldata',))]
fn a_high_half_beyond_its_bits_is_no_amount() {
    amount_at(array![0xb0b, 0, 0x100000000000000000000000000000000].span(), 1);
}

#[test]
#[should_panic(expected: ('Spending: bad calldata',))]
fn calldata_that_is_too_short_has_no_amount() {
    amount_at(array![0xb0b, 5].span(), 1);
}

#[test]
#[should_panic(expected: ('Spending: bad calldata',))]
fn calldata_that_is_too_long_has_no_amount() {
    amount_at(array![0xb0b, 5, 0, 0].span(), 1);
}

#[test]
#[should_panic(expected: ('Spending: bad calldata',))]
fn calldata_that_is_empty_has_no_amount() {
    amount_at(array![].span(), 1);
}

#[test]
fn a_call_spends_up_to_its_limit_and_a_window_up_to_its_own() {
    let after = spend(policy(50, 80), 50, 1010);
    assert(after.spent_in_window == 50 && after.window_start == 1000, 'the limit of a call');
    let after = spend(after, 30, 1099);
    assert(after.spent_in_window == 80 && after.window_start == 1000, 'the limit of the window');
    assert(spend(after, 0, 1099).spent_in_window == 80, 'nothing is always there');
    assert(spend(policy(0, 0), 0, 1010).spent_in_window == 0, 'also where nothing else is');
}

#[test]
#[should_panic(expected: ('Spending: exceeds per-call',))]
fn a_call_never_passes_its_limit() {
    spend(policy(50, 80), 51, 1010);
}

#[test]
#[should_panic(expected: ('Spending: exceeds per-call',))]
fn a_high_half_is_not_overlooked() {
    spend(policy(50, 80), HALF, 1010);
}

#[test]
#[should_panic(expected: ('Spending: exceeds window limit',))]
fn a_window_never_passes_its_limit() {
    spend(spend(policy(50, 80), 50, 1010), 31, 1099);
}

#[test]
fn a_window_ends_at_its_last_second_and_the_next_opens_with_spending() {
    let full = spend(policy(50, 50), 50, 1000);
    let next = spend(full, 20, 1100);
    assert(next.spent_in_window == 20 && next.window_start == 1100, 'opens when it is used');
    let later = spend(full, 20, 5555);
    assert(later.spent_in_window == 20 && later.window_start == 5555, 'however late that is');
    assert(later.max_per_call == 50 && later.max_per_window == 50 && later.window_seconds == 100, 'limits stay');
}

#[test]
#[should_panic(expected: ('Spending: exceeds window limit',))]
fn a_window_is_open_until_its_last_second() {
    spend(spend(policy(50, 50), 50, 1000), 1, 1099);
}

#[test]
#[should_panic(expected: ('Spending: exceeds window limit',))]
fn sums_do_not_run_over() {
    spend(spend(policy(LARGEST, LARGEST), LARGEST, 1000), 1, 1001);
}

#[test]
fn a_window_as_long_as_time_does_not_run_over() {
    let forever = Policy { window_seconds: 0xffffffffffffffff, ..policy(50, 80) };
    let after = spend(spend(forever, 50, 1000), 30, 0xffffffffffffffff);
    assert(after.spent_in_window == 80 && after.window_start == 1000, 'one window');
}
