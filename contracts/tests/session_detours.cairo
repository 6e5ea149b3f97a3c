//! A session that goes through somebody else.
use starknet::testing;
use crate::tests::support::signing::public_key;
use crate::tests::support::wallet::{SESSION, UNTIL, WalletTrait, call, messenger, open};

#[test]
fn reaches_the_account_through_nobody_else() {
    let wallet = open();
    let somebody = messenger();
    wallet.add_session(9, array![]);
    let me: felt252 = wallet.address.into();
    let add = selector!("add_or_update_session_key");
    let rights = array![me, add, 4, public_key(SESSION), UNTIL.into(), 99, 0];
    let outcome = wallet.as_session(1, array![call(somebody, selector!("pass_on"), rights)]);
    assert(outcome == 'Account: unauthorized', 'more rights');
    testing::set_version(3);
    let execute = array![me, selector!("__execute__"), 1, 0];
    let outcome = wallet.as_session(2, array![call(somebody, selector!("pass_on"), execute)]);
    assert(outcome == 'Account: invalid caller', 'as the protocol');
}

/// Everything is counted before the first call goes out, so who calls back finds it counted.
#[test]
fn is_counted_before_it_is_made() {
    let wallet = open();
    let somebody = messenger();
    wallet.add_session(1, array![]);
    let inner = wallet.execution(2, array![wallet.pay(1)]);
    let mut message = array![];
    inner.serialize(ref message);
    wallet.signed_by_session(@inner, UNTIL.into()).serialize(ref message);
    let mut calldata = array![wallet.address.into(), selector!("execute_from_outside_v2")];
    message.serialize(ref calldata);
    let outcome = wallet.as_session(1, array![call(somebody, selector!("pass_on"), calldata)]);
    assert(outcome == 'Session: no calls left', 'the one call is used');
    assert(wallet.paid() == 0, 'nothing paid');
}
