//! For how long, how often and with which key a session signs.
use starknet::testing;
use crate::account::SvcAccount;
use crate::tests::support::signing::public_key;
use crate::tests::support::wallet::{OWNER, SESSION, STRANGER, UNTIL, Wallet, WalletTrait, deploy, open, reason};

const REVOKE: felt252 = selector!("revoke_session_key");

#[test]
fn end_at_the_second_that_they_name() {
    let wallet = open();
    wallet.add_session(5, array![]);
    testing::set_block_timestamp(UNTIL - 1);
    assert(wallet.as_session(1, array![]) == 'ok', 'the last second');
    testing::set_block_timestamp(UNTIL);
    assert(wallet.as_session(2, array![]) == 'Session: expired', 'the end');
    testing::set_block_timestamp(UNTIL + 1);
    assert(wallet.as_session(3, array![]) == 'Session: expired', 'after it');
}

#[test]
fn are_known_by_the_end_that_they_name() {
    let wallet = open();
    wallet.add_session(5, array![]);
    let execution = wallet.execution(1, array![]);
    let until: felt252 = UNTIL.into();
    for other in array![until + 1, until - 1, 0, 0xffffffffffffffff] {
        let outcome = reason(wallet.relay(execution, wallet.signed_by_session(@execution, other)));
        assert(outcome == 'Session: not registered', other);
    };
    let no_time = wallet.signed_by_session(@execution, 0x10000000000000000);
    assert(reason(wallet.relay(execution, no_time)) == 'Account: invalid signature', 'no time at all');
}

#[test]
fn sign_only_while_they_are_registered() {
    let wallet = open();
    assert(wallet.as_session(1, array![wallet.pay(1)]) == 'Session: not registered', 'before');
    wallet.add_session(5, array![]);
    assert(wallet.as_session(2, array![wallet.pay(1)]) == 'ok', 'while');
    wallet.own(REVOKE, array![public_key(SESSION)]);
    assert(wallet.as_session(3, array![wallet.pay(1)]) == 'Session: not registered', 'after');
    let execution = wallet.execution(4, array![]);
    let of_nothing = wallet.signed_by_session(@execution, 0);
    assert(reason(wallet.relay(execution, of_nothing)) == 'Session: not registered', 'with the end of none');
    let twin = Wallet { address: deploy(SvcAccount::TEST_CLASS_HASH, 2, array![public_key(OWNER)]), ..wallet };
    wallet.add_session(5, array![]);
    assert(twin.as_session(5, array![]) == 'Session: not registered', 'with another account');
}

#[test]
fn sign_with_their_own_key() {
    let wallet = open();
    wallet.add_session(5, array![]);
    let execution = wallet.execution(1, array![wallet.pay(1)]);
    let until: felt252 = UNTIL.into();
    for key in array![STRANGER, OWNER] {
        let signature = wallet.signed(key, @execution);
        let dressed = array![public_key(SESSION), *signature.at(0), *signature.at(1), until];
        assert(reason(wallet.relay(execution, dressed)) == 'Account: invalid signature', 'another key signed');
    };
    let good = wallet.signed_by_session(@execution, until);
    let undressed = array![*good.at(1), *good.at(2)];
    assert(reason(wallet.relay(execution, undressed)) == 'Account: invalid signature', 'as if the owner had');
    let owners = wallet.signed(OWNER, @execution);
    let session_of_owner = array![public_key(OWNER), *owners.at(0), *owners.at(1), until];
    assert(reason(wallet.relay(execution, session_of_owner)) == 'Session: not registered', 'the owner is no session');
    assert(wallet.session() == array![until, 5, 0, 0].span(), 'nothing counted');
}

#[test]
fn sign_as_often_as_they_may() {
    let wallet = open();
    wallet.add_session(2, array![]);
    assert(wallet.as_session(1, array![wallet.pay(1), wallet.pay(1)]) == 'ok', 'two calls, one execution');
    assert(wallet.as_session(2, array![wallet.pay(2000000)]) == 'ERC20: insufficient balance', 'a failing one');
    assert(wallet.session() == array![UNTIL.into(), 2, 1, 0].span(), 'is not counted');
    assert(wallet.as_session(3, array![]) == 'ok', 'an empty one');
    assert(wallet.session() == array![UNTIL.into(), 2, 2, 0].span(), 'is counted');
    assert(wallet.as_session(4, array![]) == 'Session: no calls left', 'no more');
    wallet.add_session(0, array![]);
    assert(wallet.as_session(5, array![]) == 'Session: no calls left', 'none at all');
}

#[test]
fn cannot_be_played_again() {
    let wallet = open();
    wallet.add_session(5, array![]);
    let execution = wallet.execution(1, array![wallet.pay(1)]);
    let signature = wallet.signed_by_session(@execution, UNTIL.into());
    assert(reason(wallet.relay(execution, signature.clone())) == 'ok', 'first');
    assert(reason(wallet.relay(execution, signature)) == 'SRC9: duplicated nonce', 'again');
    assert(wallet.paid() == 1, 'paid once');
}
