//! What no session may call, whatever its list says.
use crate::sessions::is_owner_entrypoint;
use crate::tests::support::signing::public_key;
use crate::tests::support::wallet::{BOB, SESSION, UNTIL, WalletTrait, call, open};

const REFUSED: felt252 = 'Session: entrypoint not allowed';

fn owner_entrypoints() -> Array<felt252> {
    array![
        selector!("upgrade"),
        selector!("add_or_update_session_key"),
        selector!("revoke_session_key"),
        selector!("set_spending_policy"),
        selector!("remove_spending_policy"),
        selector!("__execute__"),
        selector!("execute_from_outside_v2"),
        selector!("set_public_key"),
    ]
}

#[test]
fn is_never_an_owners_entrypoint_of_any_contract() {
    for selector in owner_entrypoints() {
        assert(is_owner_entrypoint(selector), selector);
    };
    for selector in array![selector!("transfer"), selector!("approve"), selector!("swap"), 0] {
        assert(!is_owner_entrypoint(selector), selector);
    };
    let wallet = open();
    wallet.add_session(9, owner_entrypoints());
    let mut nonce = 1;
    for selector in owner_entrypoints() {
        assert(wallet.as_session(nonce, array![call(wallet.token, selector, array![])]) == REFUSED, selector);
        nonce += 1;
    };
}

#[test]
fn is_never_the_account_itself() {
    let wallet = open();
    let me = wallet.address;
    wallet.add_session(9, array![]);
    let to_itself = array![
        call(me, selector!("add_or_update_session_key"), array![public_key(SESSION), UNTIL.into() + 1, 99, 0]),
        call(me, selector!("upgrade"), array![1]),
        call(me, selector!("perform_upgrade"), array![1, 0]),
        call(me, selector!("get_public_key"), array![]),
        call(me, selector!("transfer"), array![BOB, 1, 0]),
    ];
    let mut nonce = 1;
    for call in to_itself {
        assert(wallet.as_session(nonce, array![call]) == REFUSED, nonce);
        assert(wallet.as_session(nonce, array![wallet.pay(1), call]) == REFUSED, nonce);
        nonce += 1;
    };
    wallet.add_session(9, array![selector!("get_public_key"), selector!("transfer")]);
    assert(wallet.as_session(50, array![call(me, selector!("get_public_key"), array![])]) == REFUSED, 'though listed');
    assert(wallet.paid() == 0, 'nothing paid');
}
