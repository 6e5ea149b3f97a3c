//! Policies in a wallet.
use starknet::testing;
use crate::tests::support::events::{assert_event, assert_no_event};
use crate::tests::support::signing::public_key;
use crate::tests::support::wallet::{BOB, NOW, SESSION, UNTIL, WalletTrait, call, open, reason, send};

const SET: felt252 = selector!("set_spending_policy");
const REMOVE: felt252 = selector!("remove_spending_policy");
const PER_CALL: felt252 = 'Spending: exceeds per-call';
const PER_WINDOW: felt252 = 'Spending: exceeds window limit';

#[test]
fn are_set_and_removed_by_the_account_alone() {
    let wallet = open();
    let policy = array![public_key(SESSION), wallet.token.into(), 5, 0, 8, 0, 100];
    assert(reason(send(wallet.address, SET, policy.span())) == 'Account: unauthorized', 'set, by nobody');
    testing::set_contract_address(wallet.token);
    assert(reason(send(wallet.address, SET, policy.span())) == 'Account: unauthorized', 'set, by somebody');
    let which = array![public_key(SESSION), wallet.token.into()];
    assert(reason(send(wallet.address, REMOVE, which.span())) == 'Account: unauthorized', 'remove, by somebody');
    assert_no_event(wallet.address);
}

#[test]
fn are_announced_with_indexed_keys_and_read_as_they_were_set() {
    let wallet = open();
    let (key, token): (felt252, felt252) = (public_key(SESSION), wallet.token.into());
    wallet.own(SET, array![key, token, 5, 1, 8, 2, 100]);
    let keys = array![selector!("SpendingPolicySet"), key, token];
    assert_event(wallet.address, keys.span(), array![5, 1, 8, 2, 100].span());
    let read = selector!("get_spending_policy");
    let found = wallet.read(read, array![key, token]);
    assert(found == array![5, 1, 8, 2, 100, 0, 0, NOW.into()].span(), 'as set');
    assert(wallet.read(read, array![key, BOB]) == array![0, 0, 0, 0, 0, 0, 0, 0].span(), 'of another token');
    assert(wallet.read(read, array![BOB, token]) == array![0, 0, 0, 0, 0, 0, 0, 0].span(), 'of another key');
    wallet.own(REMOVE, array![key, token]);
    assert_event(wallet.address, array![selector!("SpendingPolicyRemoved"), key, token].span(), array![].span());
    assert(wallet.read(read, array![key, token]) == array![0, 0, 0, 0, 0, 0, 0, 0].span(), 'removed');
    assert_no_event(wallet.address);
}

#[test]
fn need_a_key_and_a_window() {
    let wallet = open();
    let token: felt252 = wallet.token.into();
    assert(wallet.own(SET, array![0, token, 5, 0, 8, 0, 100]) == 'Session: invalid key', 'no key');
    assert(wallet.own(SET, array![1, token, 5, 0, 8, 0, 0]) == 'Spending: invalid window', 'no window');
    assert(wallet.own(SET, array![1, token, 5, 0, 8, 0, 1]) == 'ok', 'the shortest');
}

#[test]
fn count_what_calls_give_away() {
    let wallet = open();
    wallet.add_session(99, array![]);
    wallet.set_policy(50, 80, 100);
    assert(wallet.as_session(1, array![wallet.pay(51)]) == PER_CALL, 'a call');
    assert(wallet.as_session(2, array![wallet.pay(50)]) == 'ok', 'up to its limit');
    assert(wallet.spent() == (50, NOW.into()), 'counted');
    assert(wallet.as_session(3, array![wallet.pay(31)]) == PER_WINDOW, 'the window');
    testing::set_block_timestamp(NOW + 99);
    assert(wallet.as_session(4, array![wallet.pay(31)]) == PER_WINDOW, 'is not over');
    testing::set_block_timestamp(NOW + 100);
    assert(wallet.as_session(5, array![wallet.pay(31)]) == 'ok', 'is over');
    assert(wallet.spent() == (31, (NOW + 100).into()), 'counted anew');
}

#[test]
fn add_up_the_calls_of_one_execution() {
    let wallet = open();
    wallet.add_session(99, array![]);
    wallet.set_policy(50, 80, 100);
    assert(wallet.as_session(1, array![wallet.pay(50), wallet.pay(31)]) == PER_WINDOW, 'together');
    assert(wallet.spent() == (0, NOW.into()) && wallet.paid() == 0, 'nothing happened');
    assert(wallet.as_session(2, array![wallet.pay(1), wallet.pay(51)]) == PER_CALL, 'the second alone');
    assert(wallet.as_session(3, array![wallet.pay(50), wallet.pay(30)]) == 'ok', 'up to the limit');
    assert(wallet.spent() == (80, NOW.into()), 'counted');
}

#[test]
fn count_every_way_of_giving() {
    let wallet = open();
    wallet.add_session(99, array![]);
    wallet.set_policy(10, 10, 100);
    let (me, token) = (wallet.address.into(), wallet.token);
    let ways = array![
        call(token, selector!("transfer"), array![BOB, 11, 0]),
        call(token, selector!("approve"), array![BOB, 11, 0]),
        call(token, selector!("increase_allowance"), array![BOB, 11, 0]),
        call(token, selector!("increaseAllowance"), array![BOB, 11, 0]),
        call(token, selector!("transfer_from"), array![me, BOB, 11, 0]),
        call(token, selector!("transferFrom"), array![me, BOB, 11, 0]),
        call(token, selector!("transfer"), array![BOB, 0, 1]),
    ];
    let mut nonce = 1;
    for way in ways {
        assert(wallet.as_session(nonce, array![way]) == PER_CALL, nonce);
        nonce += 1;
    };
    let bad = call(token, selector!("transfer"), array![BOB, 1]);
    assert(wallet.as_session(50, array![bad]) == 'Spending: bad calldata', 'what cannot be measured');
    let approve = call(token, selector!("approve"), array![BOB, 6, 0]);
    let take = call(token, selector!("transfer_from"), array![me, BOB, 5, 0]);
    assert(wallet.as_session(51, array![approve, take]) == PER_WINDOW, 'together');
}

#[test]
fn leave_alone_what_they_do_not_name() {
    let wallet = open();
    wallet.add_session(99, array![]);
    let limits = array![public_key(SESSION), BOB, 1, 0, 1, 0, 100];
    assert(wallet.own(SET, limits) == 'ok', 'another token');
    let others = array![0xabc, wallet.token.into(), 1, 0, 1, 0, 100];
    assert(wallet.own(SET, others) == 'ok', 'another session');
    assert(wallet.as_session(1, array![wallet.pay(500)]) == 'ok', 'a token without a policy');
    wallet.set_policy(1, 1, 100);
    let owners = wallet.as_owner(2, array![wallet.pay(500)]);
    assert(owners == 'ok' && wallet.spent() == (0, NOW.into()), 'the owner');
}

#[test]
fn stay_until_they_are_removed() {
    let wallet = open();
    wallet.set_policy(50, 50, 100);
    wallet.add_session(99, array![]);
    assert(wallet.as_session(1, array![wallet.pay(50)]) == 'ok', 'set before the session');
    wallet.own(selector!("revoke_session_key"), array![public_key(SESSION)]);
    wallet.add_session(99, array![]);
    assert(wallet.as_session(2, array![wallet.pay(1)]) == PER_WINDOW, 'outlives a revocation');
    wallet.own(REMOVE, array![public_key(SESSION), wallet.token.into()]);
    assert(wallet.as_session(3, array![wallet.pay(500)]) == 'ok', 'removed');
}

#[test]
fn start_afresh_when_they_are_set_again() {
    let wallet = open();
    wallet.add_session(99, array![]);
    wallet.set_policy(50, 50, 100);
    assert(wallet.as_session(1, array![wallet.pay(50)]) == 'ok', 'full');
    testing::set_block_timestamp(NOW + 7);
    wallet.set_policy(20, 20, 100);
    assert(wallet.spent() == (0, (NOW + 7).into()), 'empty');
    assert(wallet.as_session(2, array![wallet.pay(21)]) == PER_CALL, 'the new limit');
    assert(wallet.as_session(3, array![wallet.pay(20)]) == 'ok', 'up to it');
}

#[test]
fn do_not_count_what_failed() {
    let wallet = open();
    wallet.add_session(99, array![]);
    wallet.set_policy(3000000, 3000000, 100);
    assert(wallet.as_session(1, array![wallet.pay(2000000)]) == 'ERC20: insufficient balance', 'fails');
    assert(wallet.spent() == (0, NOW.into()), 'not counted');
    assert(wallet.session() == array![UNTIL.into(), 99, 0, 0].span(), 'nor as a call');
}
