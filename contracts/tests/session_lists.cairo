//! What a session may call by its list.
use crate::tests::support::signing::public_key;
use crate::tests::support::wallet::{BOB, SESSION, UNTIL, WalletTrait, call, open};

const REFUSED: felt252 = 'Session: entrypoint not allowed';

#[test]
fn is_on_its_list_also_inside_a_multicall() {
    let wallet = open();
    wallet.add_session(9, array![selector!("transfer"), selector!("balance_of")]);
    let approve = call(wallet.token, selector!("approve"), array![BOB, 1, 0]);
    let balance = call(wallet.token, selector!("balance_of"), array![BOB]);
    assert(wallet.as_session(1, array![approve]) == REFUSED, 'alone');
    assert(wallet.as_session(2, array![wallet.pay(1), approve]) == REFUSED, 'last');
    assert(wallet.as_session(3, array![approve, wallet.pay(1)]) == REFUSED, 'first');
    assert(wallet.paid() == 0, 'nothing paid');
    assert(wallet.as_session(4, array![wallet.pay(1), balance]) == 'ok', 'listed');
}

#[test]
fn is_anything_where_the_list_is_empty() {
    let wallet = open();
    wallet.add_session(9, array![]);
    let approve = call(wallet.token, selector!("approve"), array![BOB, 1, 0]);
    assert(wallet.as_session(1, array![wallet.pay(1), approve]) == 'ok', 'not listed');
}

#[test]
fn follows_the_last_list_alone() {
    let wallet = open();
    wallet.add_session(1, array![selector!("transfer"), selector!("approve")]);
    assert(wallet.as_session(1, array![wallet.pay(1)]) == 'ok', 'the first list');
    assert(wallet.as_session(2, array![wallet.pay(1)]) == 'Session: no calls left', 'used up');
    wallet.add_session(1, array![selector!("approve")]);
    assert(wallet.session() == array![UNTIL.into(), 1, 0, 1].span(), 'starts afresh');
    assert(wallet.as_session(3, array![wallet.pay(1)]) == REFUSED, 'not on the second');
    wallet.own(selector!("revoke_session_key"), array![public_key(SESSION)]);
    wallet.add_session(1, array![selector!("balance_of")]);
    let approve = call(wallet.token, selector!("approve"), array![BOB, 1, 0]);
    assert(wallet.as_session(4, array![approve]) == REFUSED, 'nor after a revocation');
}
