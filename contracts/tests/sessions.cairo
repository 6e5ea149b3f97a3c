//! Who may have a session, and what the wallet tells of it.
use starknet::testing;
use crate::tests::support::events::{assert_event, assert_no_event};
use crate::tests::support::signing::public_key;
use crate::tests::support::wallet::{NOW, OWNER, SESSION, UNTIL, WalletTrait, open, reason, send};

const ADD: felt252 = selector!("add_or_update_session_key");
const REVOKE: felt252 = selector!("revoke_session_key");

#[test]
fn are_added_and_revoked_by_the_account_alone() {
    let wallet = open();
    let session = array![public_key(SESSION), UNTIL.into(), 5, 0];
    assert(reason(send(wallet.address, ADD, session.span())) == 'Account: unauthorized', 'add, by nobody');
    testing::set_contract_address(wallet.token);
    assert(reason(send(wallet.address, ADD, session.span())) == 'Account: unauthorized', 'add, by somebody');
    let key = array![public_key(SESSION)];
    assert(reason(send(wallet.address, REVOKE, key.span())) == 'Account: unauthorized', 'revoke, by somebody');
    assert_no_event(wallet.address);
    assert(wallet.own(ADD, session) == 'ok', 'add');
    assert(wallet.own(REVOKE, key) == 'ok', 'revoke');
}

#[test]
fn announce_themselves_with_indexed_keys() {
    let wallet = open();
    let key = public_key(SESSION);
    wallet.own(ADD, array![key, UNTIL.into(), 7, 1, 'entrypoint']);
    assert_event(
        wallet.address, array![selector!("SessionKeyAdded"), key].span(), array![UNTIL.into(), 7].span()
    );
    wallet.own(REVOKE, array![key]);
    assert_event(wallet.address, array![selector!("SessionKeyRevoked"), key].span(), array![].span());
    assert_no_event(wallet.address);
}

#[test]
fn are_read_as_they_were_added() {
    let wallet = open();
    assert(wallet.session() == array![0, 0, 0, 0].span(), 'zeros before');
    wallet.add_session(7, array!['one', 'two']);
    assert(wallet.session() == array![UNTIL.into(), 7, 0, 2].span(), 'as added');
    let at = selector!("get_session_allowed_entrypoint_at");
    assert(wallet.read(at, array![public_key(SESSION), 0]) == array!['one'].span(), 'first');
    assert(wallet.read(at, array![public_key(SESSION), 1]) == array!['two'].span(), 'second');
    let beyond = reason(send(wallet.address, at, array![public_key(SESSION), 2].span()));
    assert(beyond == 'Index out of bounds', 'no third');
    wallet.own(REVOKE, array![public_key(SESSION)]);
    assert(wallet.session() == array![0, 0, 0, 0].span(), 'zeros after');
    let gone = reason(send(wallet.address, at, array![public_key(SESSION), 0].span()));
    assert(gone == 'Index out of bounds', 'nothing of the list');
}

#[test]
fn have_a_key_that_is_somebodys_and_not_the_owners() {
    let wallet = open();
    assert(wallet.own(ADD, array![0, UNTIL.into(), 5, 0]) == 'Session: invalid key', 'zero');
    assert(wallet.own(ADD, array![public_key(OWNER), UNTIL.into(), 5, 0]) == 'Session: invalid key', 'the owner');
    wallet.add_session(5, array![]);
    let taken = wallet.own(selector!("set_public_key"), array![public_key(SESSION)]);
    assert(taken == 'Account: invalid public key', 'a session cannot be owner');
    wallet.own(REVOKE, array![public_key(SESSION)]);
    assert(wallet.own(selector!("set_public_key"), array![public_key(SESSION)]) == 'ok', 'once it is none');
    assert(wallet.own(ADD, array![public_key(SESSION), UNTIL.into(), 5, 0]) == 'Session: invalid key', 'nor back');
}

#[test]
fn begin_with_time_ahead() {
    let wallet = open();
    assert(wallet.own(ADD, array![public_key(SESSION), NOW.into(), 5, 0]) == 'Session: expired', 'now');
    assert(wallet.own(ADD, array![public_key(SESSION), 0, 5, 0]) == 'Session: expired', 'never');
    assert(wallet.own(ADD, array![public_key(SESSION), (NOW + 1).into(), 5, 0]) == 'ok', 'a second ahead');
}
