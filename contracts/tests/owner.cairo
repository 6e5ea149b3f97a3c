//! The owner: who it is, what it signs and how it changes.
use core::ec::stark_curve;
use starknet::syscalls::deploy_syscall;
use starknet::testing;
use crate::account::SvcAccount;
use crate::tests::support::events::{assert_event, assert_no_event};
use crate::tests::support::signing::{negated, public_key, sign, signed_with_one};
use crate::tests::support::wallet::{OWNER, SESSION, STRANGER, UNTIL, WalletTrait, open, reason, send};

const HASH: felt252 = 0x4242;

#[test]
fn signs_messages_and_nobody_else_does() {
    let wallet = open();
    wallet.add_session(9, array![]);
    let (r, s) = sign(OWNER, HASH);
    let (session_r, session_s) = sign(SESSION, HASH);
    let asked = selector!("is_valid_signature");
    assert(*wallet.read(asked, array![HASH, 2, r, s]).at(0) == 'VALID', 'the owner');
    assert(*wallet.read(asked, array![HASH, 2, r, negated(s)]).at(0) == 'VALID', 'the owner, the other s');
    let refused = array![
        array![HASH + 1, 2, r, s],
        array![HASH, 2, session_r, session_s],
        array![HASH, 4, public_key(SESSION), session_r, session_s, UNTIL.into()],
        array![HASH, 0],
        array![HASH, 1, r],
        array![HASH, 3, r, s, 0],
        array![HASH, 2, r, 0],
        array![HASH, 2, 0, s],
        array![HASH, 2, r, stark_curve::ORDER],
    ];
    for calldata in refused {
        assert(*wallet.read(asked, calldata).at(0) == 0, 'not the owner');
    };
}

#[test]
fn signs_with_numbers_below_the_order_of_the_curve() {
    let wallet = open();
    let asked = selector!("is_valid_signature");
    let (hash, r) = signed_with_one(OWNER);
    assert(*wallet.read(asked, array![hash, 2, r, 1]).at(0) == 'VALID', 'as it is');
    assert(*wallet.read(asked, array![hash, 2, r, 1 + stark_curve::ORDER]).at(0) == 0, 'and once around');
}

#[test]
fn is_somebody_and_is_announced() {
    let class = SvcAccount::TEST_CLASS_HASH.try_into().unwrap();
    let nobody = deploy_syscall(class, 1, array![0].span(), false).unwrap_err();
    assert(*nobody.at(0) == 'Account: invalid public key', 'no key');
    let (address, _) = deploy_syscall(class, 1, array![public_key(OWNER)].span(), false).unwrap();
    assert_event(address, array![selector!("OwnerAdded"), public_key(OWNER)].span(), array![].span());
    assert_no_event(address);
}

#[test]
fn changes_by_the_account_alone() {
    let wallet = open();
    let set = selector!("set_public_key");
    let next = array![public_key(STRANGER)];
    assert(reason(send(wallet.address, set, next.span())) == 'Account: unauthorized', 'nobody');
    testing::set_contract_address(wallet.token);
    assert(reason(send(wallet.address, set, next.span())) == 'Account: unauthorized', 'somebody');
    assert(wallet.own(set, array![0]) == 'Account: invalid public key', 'to no key');
    assert_no_event(wallet.address);
    assert(wallet.own(set, next) == 'ok', 'the account');
    assert_event(wallet.address, array![selector!("OwnerRemoved"), public_key(OWNER)].span(), array![].span());
    assert_event(wallet.address, array![selector!("OwnerAdded"), public_key(STRANGER)].span(), array![].span());
    assert(*wallet.read(selector!("get_public_key"), array![]).at(0) == public_key(STRANGER), 'the new one');
    let asked = selector!("is_valid_signature");
    let ((old_r, old_s), (new_r, new_s)) = (sign(OWNER, HASH), sign(STRANGER, HASH));
    assert(*wallet.read(asked, array![HASH, 2, old_r, old_s]).at(0) == 0, 'the old one signs no more');
    assert(*wallet.read(asked, array![HASH, 2, new_r, new_s]).at(0) == 'VALID', 'the new one does');
}

#[test]
fn has_an_account_that_names_its_standards() {
    let wallet = open();
    let asked = selector!("supports_interface");
    for id in array![
        0x3f918d17e5ee77373b56385708f855659a07f75997f365cf87748628532a055,
        0x2ceccef7f994940b3962a6c67e0ba4fcd37df7d131417c604f91e03caecc1cd,
        0x1d1144bb2138366ff28d8e9ab57456b1d332ac42196230c3a602003c89872,
    ] {
        assert(*wallet.read(asked, array![id]).at(0) == 1, id);
    };
    for id in array![0, 1, 0x68cfd18b92d1907b8ba3cc324900277f5a3622099431ea85dd8089255e4181] {
        assert(*wallet.read(asked, array![id]).at(0) == 0, id);
    };
}
