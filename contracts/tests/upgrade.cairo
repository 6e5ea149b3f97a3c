//! To another class, and from READY to this one; and where everything stands in storage.
use core::pedersen::pedersen;
use starknet::storage_access::{storage_address_from_base, storage_base_address_from_felt252};
use starknet::syscalls::storage_read_syscall;
use starknet::{ContractAddress, contract_address_const, testing};
use crate::account::SvcAccount;
use crate::tests::support::contracts::{Ready, Successor};
use crate::tests::support::events::{assert_event, assert_no_event};
use crate::tests::support::signing::public_key;
use crate::tests::support::wallet::{OWNER, SESSION, UNTIL, Wallet, WalletTrait, call, deploy, open, reason, send};

const UPGRADE: felt252 = selector!("upgrade");

fn ready(guardian: felt252) -> Wallet {
    let wallet = open();
    Wallet { address: deploy(Ready::TEST_CLASS_HASH, 1, array![public_key(OWNER), guardian]), ..wallet }
}

#[test]
fn leads_to_another_class_and_keeps_the_storage() {
    let wallet = open();
    let upgrade = call(wallet.address, UPGRADE, array![Successor::TEST_CLASS_HASH]);
    assert(wallet.as_owner(1, array![upgrade]) == 'ok', 'upgrade');
    let keys = array![selector!("Upgraded"), Successor::TEST_CLASS_HASH];
    assert_event(wallet.address, keys.span(), array![].span());
    assert(*wallet.read(selector!("successor"), array![]).at(0) == public_key(OWNER), 'the successor reads it');
}

#[test]
fn is_asked_for_by_the_account_alone() {
    let wallet = open();
    let successor = array![Successor::TEST_CLASS_HASH];
    assert(reason(send(wallet.address, UPGRADE, successor.span())) == 'Account: unauthorized', 'nobody');
    testing::set_contract_address(wallet.token);
    assert(reason(send(wallet.address, UPGRADE, successor.span())) == 'Account: unauthorized', 'somebody');
    let perform = array![Successor::TEST_CLASS_HASH, 0];
    let from_ready = reason(send(wallet.address, selector!("perform_upgrade"), perform.span()));
    assert(from_ready == 'Account: unauthorized', 'somebody, as READY');
}

#[test]
fn needs_a_class() {
    let wallet = open();
    assert(wallet.own(UPGRADE, array![0]) == 'Account: invalid class hash', 'zero');
    assert(wallet.own(UPGRADE, array!['undeclared']) == 'CLASS_HASH_NOT_FOUND', 'one that is not there');
    assert_no_event(wallet.address);
    assert(*wallet.read(selector!("get_public_key"), array![]).at(0) == public_key(OWNER), 'still itself');
}

#[test]
fn from_ready_keeps_the_owner_and_what_was_spent() {
    let wallet = ready(0);
    send(wallet.address, selector!("spend_nonce"), array![7].span()).unwrap();
    assert(wallet.own(UPGRADE, array![SvcAccount::TEST_CLASS_HASH, 0]) == 'ok', 'upgrade');
    let keys = array![selector!("Upgraded"), SvcAccount::TEST_CLASS_HASH];
    assert_event(wallet.address, keys.span(), array![].span());
    assert(*wallet.read(selector!("get_public_key"), array![]).at(0) == public_key(OWNER), 'the owner');
    assert(wallet.as_owner(7, array![]) == 'SRC9: duplicated nonce', 'a nonce that READY spent');
    assert(wallet.as_owner(8, array![]) == 'ok', 'the owner signs');
    assert(wallet.session() == array![0, 0, 0, 0].span(), 'no sessions came along');
    let again = wallet.own(selector!("perform_upgrade"), array![SvcAccount::TEST_CLASS_HASH, 0]);
    assert(again == 'Account: no legacy owner', 'not twice');
}

#[test]
fn from_ready_waits_until_one_key_owns_it() {
    let guarded = ready(0x9a4d);
    assert(guarded.own(UPGRADE, array![SvcAccount::TEST_CLASS_HASH, 0]) == 'Account: guardian is set', 'guarded');
    assert(*guarded.read(selector!("get_owner"), array![]).at(0) == public_key(OWNER), 'is READY still');
}

#[test]
fn from_ready_drops_nothing_that_was_signed() {
    let wallet = ready(0);
    let with_calls = wallet.own(UPGRADE, array![SvcAccount::TEST_CLASS_HASH, 1, 0]);
    assert(with_calls == 'Account: unexpected data', 'calls to run afterwards');
    assert(*wallet.read(selector!("get_owner"), array![]).at(0) == public_key(OWNER), 'is READY still');
}

#[test]
fn of_a_wallet_that_never_was_ready_leads_nowhere() {
    let wallet = open();
    let performed = wallet.own(selector!("perform_upgrade"), array![Successor::TEST_CLASS_HASH, 0]);
    assert(performed == 'Account: no legacy owner', 'no owner to take over');
}

fn stored(account: ContractAddress, base: felt252, offset: felt252) -> felt252 {
    testing::set_contract_address(account);
    let key = storage_address_from_base(storage_base_address_from_felt252(base));
    let at: felt252 = key.into() + offset;
    let value = storage_read_syscall(0, at.try_into().unwrap()).unwrap();
    testing::set_contract_address(contract_address_const::<0>());
    value
}

/// Where the earlier classes of the sandbox have the same, so that an upgrade keeps all.
#[test]
fn finds_everything_where_it_was() {
    let wallet = open();
    let (key, token) = (public_key(SESSION), wallet.token.into());
    wallet.add_session(7, array!['entry']);
    wallet.set_policy(5, 8, 100);
    assert(wallet.as_owner(3, array![]) == 'ok', 'a nonce');
    let me = wallet.address;
    assert(stored(me, selector!("public_key"), 0) == public_key(OWNER), 'public_key');
    let session = pedersen(selector!("sessions"), key);
    assert(stored(me, session, 0) == UNTIL.into() && stored(me, session, 1) == 7, 'sessions');
    assert(stored(me, session, 2) == 0 && stored(me, session, 3) == 1, 'sessions, the rest');
    let entrypoint = pedersen(pedersen(selector!("session_entrypoints"), key), 0);
    assert(stored(me, entrypoint, 0) == 'entry', 'session_entrypoints');
    assert(stored(me, pedersen(selector!("session_epochs"), key), 0) == 1, 'session_epochs');
    let allowed = pedersen(pedersen(pedersen(selector!("session_allowed"), key), 1), 'entry');
    assert(stored(me, allowed, 0) == 1, 'session_allowed');
    let policy = pedersen(pedersen(selector!("spending_policies"), key), token);
    assert(stored(me, policy, 0) == 5 && stored(me, policy, 2) == 8, 'spending_policies');
    assert(stored(me, policy, 4) == 100 && stored(me, policy, 7) == 1000, 'spending_policies, the rest');
    assert(stored(me, pedersen(selector!("outside_nonces"), 3), 0) == 1, 'outside_nonces');
}
