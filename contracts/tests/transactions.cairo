//! Transactions of the account itself.
use starknet::account::Call;
use starknet::{contract_address_const, testing};
use crate::tests::support::signing::{public_key, sign};
use crate::tests::support::wallet::{
    OWNER, SESSION, STRANGER, UNTIL, Wallet, WalletTrait, call, messenger, open, reason, send
};

const HASH: felt252 = 0x4242;
const INVALID: felt252 = 'Account: invalid signature';

fn validate(wallet: @Wallet, signature: Array<felt252>) -> felt252 {
    testing::set_transaction_hash(HASH);
    testing::set_signature(signature.span());
    match send(*wallet.address, selector!("__validate__"), array![0].span()) {
        Result::Ok(answer) => *answer.at(0),
        Result::Err(panic) => *panic.at(0),
    }
}

fn execute(wallet: @Wallet, calls: Array<Call>) -> felt252 {
    let mut calldata = array![];
    calls.serialize(ref calldata);
    reason(send(*wallet.address, selector!("__execute__"), calldata.span()))
}

fn signed(key: felt252) -> Array<felt252> {
    let (r, s) = sign(key, HASH);
    array![r, s]
}

#[test]
fn are_the_owners_alone() {
    let wallet = open();
    wallet.add_session(9, array![]);
    assert(validate(@wallet, signed(OWNER)) == 'VALID', 'the owner');
    assert(validate(@wallet, signed(STRANGER)) == INVALID, 'a stranger');
    assert(validate(@wallet, signed(SESSION)) == INVALID, 'a session, as the owner');
    let (r, s) = sign(SESSION, HASH);
    // A session would make the wallet pay fees that nothing bounds.
    assert(validate(@wallet, array![public_key(SESSION), r, s, UNTIL.into()]) == INVALID, 'a session');
    let (r, s) = sign(OWNER, HASH + 1);
    assert(validate(@wallet, array![r, s]) == INVALID, 'another transaction');
    assert(validate(@wallet, array![]) == INVALID, 'nobody');
}

#[test]
fn declare_and_deploy_for_the_owner_alone() {
    let wallet = open();
    let doors = array![
        (selector!("__validate_declare__"), array![1]),
        (selector!("__validate_deploy__"), array![1, 2, public_key(OWNER)]),
    ];
    testing::set_transaction_hash(HASH);
    for (door, calldata) in doors {
        testing::set_signature(signed(OWNER).span());
        assert(send(wallet.address, door, calldata.span()).unwrap() == array!['VALID'].span(), 'the owner');
        testing::set_signature(signed(STRANGER).span());
        assert(reason(send(wallet.address, door, calldata.span())) == INVALID, 'a stranger');
    };
}

#[test]
fn run_all_their_calls_or_none() {
    let wallet = open();
    testing::set_version(3);
    let failing = execute(@wallet, array![wallet.pay(1), wallet.pay(2000000)]);
    assert(failing == 'ERC20: insufficient balance', 'the reason of the call');
    assert(wallet.paid() == 0, 'none');
    assert(execute(@wallet, array![wallet.pay(1), wallet.pay(2)]) == 'ok', 'both');
    assert(wallet.paid() == 3, 'all');
    assert(execute(@wallet, array![]) == 'ok', 'no calls');
}

#[test]
fn are_started_by_the_protocol_alone() {
    let wallet = open();
    testing::set_version(3);
    testing::set_contract_address(messenger());
    assert(execute(@wallet, array![]) == 'Account: invalid caller', 'a contract');
    testing::set_contract_address(wallet.address);
    assert(execute(@wallet, array![]) == 'Account: invalid caller', 'the account itself');
    testing::set_contract_address(contract_address_const::<0>());
    let itself = call(wallet.address, selector!("__execute__"), array![0]);
    assert(execute(@wallet, array![itself]) == 'Account: invalid caller', 'from inside');
    assert(wallet.as_owner(1, array![itself]) == 'Account: invalid caller', 'from outside');
}

/// Version 0 with caller zero is what `meta_tx_v0` makes, for anyone and without `__validate__`.
#[test]
fn have_the_third_version() {
    let wallet = open();
    let query = 0x100000000000000000000000000000000;
    for version in array![0, 1, 2, 4, query, query + 1, query + 2, query * 2 + 3] {
        testing::set_version(version);
        assert(execute(@wallet, array![]) == 'Account: invalid tx version', version);
    };
    for version in array![3, query + 3] {
        testing::set_version(version);
        assert(execute(@wallet, array![]) == 'ok', version);
    };
}
