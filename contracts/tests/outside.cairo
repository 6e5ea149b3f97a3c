//! Outside executions: what is signed, when and by whom it may be sent, and that it is sent once.
use starknet::account::Call;
use starknet::{contract_address_const, testing};
use crate::account::SvcAccount;
use crate::interface::OutsideExecution;
use crate::outside_execution::message_hash;
use crate::tests::support::signing::{negated, public_key, sign};
use crate::tests::support::wallet::{
    BOB, CHAIN, NOW, OWNER, STRANGER, Wallet, WalletTrait, call, deploy, messenger, open, reason
};

/// Made with starknet.js from the same execution.
const VECTOR: felt252 = 0x75dd07bde5da8929527b496f3b9f56e43fea79c6836e0fa7a6f42bf3df64aba;

fn vector() -> OutsideExecution {
    let calls = array![
        call(contract_address_const::<0xabc>(), selector!("transfer"), array![0x123, 5, 0]),
        call(contract_address_const::<0xdef>(), selector!("approve"), array![]),
    ];
    let caller = contract_address_const::<'ANY_CALLER'>();
    OutsideExecution { caller, nonce: 0x77, execute_after: 100, execute_before: 5000, calls: calls.span() }
}

fn with_calldata(call: Call, calldata: Array<felt252>) -> Call {
    Call { calldata: calldata.span(), ..call }
}

#[test]
fn are_hashed_as_wallets_hash_them() {
    assert(message_hash(@vector(), 'SN_SEPOLIA', contract_address_const::<0x1a2b3c>()) == VECTOR, 'the vector');
}

#[test]
fn every_part_is_under_the_signature() {
    let account = contract_address_const::<0x1a2b3c>();
    let whole = vector();
    let calls = whole.calls;
    let (first, second) = (*calls.at(0), *calls.at(1));
    let other = contract_address_const::<0x1>();
    let changed = array![
        OutsideExecution { caller: other, ..whole },
        OutsideExecution { nonce: 0x78, ..whole },
        OutsideExecution { execute_after: 101, ..whole },
        OutsideExecution { execute_before: 5001, ..whole },
        OutsideExecution { calls: array![].span(), ..whole },
        OutsideExecution { calls: array![second, first].span(), ..whole },
        OutsideExecution { calls: array![first, second, second].span(), ..whole },
        OutsideExecution { calls: array![Call { to: other, ..first }, second].span(), ..whole },
        OutsideExecution { calls: array![Call { selector: 1, ..first }, second].span(), ..whole },
        OutsideExecution { calls: array![with_calldata(first, array![0x123, 6, 0]), second].span(), ..whole },
        OutsideExecution { calls: array![with_calldata(first, array![0x123, 5]), second].span(), ..whole },
    ];
    for execution in changed {
        assert(message_hash(@execution, CHAIN, account) != VECTOR, 'a change that nobody sees');
    };
    assert(message_hash(@whole, 'SN_MAIN', account) != VECTOR, 'another chain');
    assert(message_hash(@whole, CHAIN, other) != VECTOR, 'another account');
}

#[test]
fn run_their_calls_and_answer_each_result() {
    let wallet = open();
    let balance = call(wallet.token, selector!("balance_of"), array![BOB]);
    let execution = wallet.execution(7, array![wallet.pay(30), balance]);
    let answer = wallet.relay(execution, wallet.signed(OWNER, @execution)).unwrap();
    assert(answer == array![2, 1, 1, 2, 30, 0].span(), 'results of both calls');
    assert(wallet.paid() == 30, 'paid');
}

#[test]
fn may_have_no_calls() {
    let wallet = open();
    assert(wallet.as_owner(7, array![]) == 'ok', 'as a wallet is created');
    assert(wallet.as_owner(7, array![]) == 'SRC9: duplicated nonce', 'but its nonce is spent');
}

#[test]
fn run_once() {
    let wallet = open();
    let nonce = selector!("is_valid_outside_execution_nonce");
    assert(*wallet.read(nonce, array![7]).at(0) == 1, 'free before');
    assert(wallet.as_owner(7, array![wallet.pay(1)]) == 'ok', 'first');
    assert(*wallet.read(nonce, array![7]).at(0) == 0, 'spent after');
    assert(*wallet.read(nonce, array![8]).at(0) == 1, 'another is free');
    assert(wallet.as_owner(7, array![wallet.pay(1)]) == 'SRC9: duplicated nonce', 'the same again');
    assert(wallet.as_owner(7, array![wallet.pay(2)]) == 'SRC9: duplicated nonce', 'another with its nonce');
    assert(wallet.paid() == 1, 'paid once');
}

#[test]
fn fail_whole_when_a_call_fails() {
    let wallet = open();
    let failing = wallet.as_owner(7, array![wallet.pay(1), wallet.pay(2000000)]);
    assert(failing == 'ERC20: insufficient balance', 'the reason of the call');
    let missing = wallet.as_owner(8, array![call(wallet.token, 'nothing', array![])]);
    assert(missing == 'ENTRYPOINT_NOT_FOUND', 'an entrypoint that is not there');
}

#[test]
fn begin_after_the_first_second_and_end_before_the_last() {
    let wallet = open();
    let times = array![
        (NOW, NOW + 10, 'SRC9: now <= execute_after'),
        (NOW + 1, NOW + 10, 'SRC9: now <= execute_after'),
        (NOW - 1, NOW + 1, 'ok'),
        (NOW - 10, NOW, 'SRC9: now >= execute_before'),
        (NOW - 10, NOW - 1, 'SRC9: now >= execute_before'),
    ];
    let mut nonce = 1;
    for (execute_after, execute_before, expected) in times {
        let execution = OutsideExecution { execute_after, execute_before, ..wallet.execution(nonce, array![]) };
        let outcome = reason(wallet.relay(execution, wallet.signed(OWNER, @execution)));
        assert(outcome == expected, nonce);
        nonce += 1;
    };
}

#[test]
fn are_sent_by_whom_they_name() {
    let wallet = open();
    let (named, other) = (contract_address_const::<0xca11>(), contract_address_const::<0x07e3>());
    let execution = OutsideExecution { caller: named, ..wallet.execution(7, array![wallet.pay(1)]) };
    let signature = wallet.signed(OWNER, @execution);
    testing::set_contract_address(other);
    assert(reason(wallet.relay(execution, signature.clone())) == 'SRC9: invalid caller', 'somebody else');
    testing::set_contract_address(named);
    assert(reason(wallet.relay(execution, signature)) == 'ok', 'the named one');
}

#[test]
fn are_sent_by_anyone_when_they_name_no_one() {
    let wallet = open();
    testing::set_contract_address(contract_address_const::<0x07e3>());
    assert(wallet.as_owner(7, array![wallet.pay(1)]) == 'ok', 'anyone');
}

#[test]
fn need_the_owners_signature() {
    let wallet = open();
    let execution = wallet.execution(7, array![wallet.pay(1)]);
    let signature = wallet.signed(OWNER, @execution);
    let (r, s) = (*signature.at(0), *signature.at(1));
    let refused = array![
        wallet.signed(STRANGER, @execution),
        wallet.signed(OWNER, @wallet.execution(8, array![wallet.pay(1)])),
        array![],
        array![r],
        array![r, s, 0],
        array![r, s, r, s],
        array![r, s, r, s, 0],
        array![s, r],
        array![0, 0],
        array![r, 0],
        array![0, s],
    ];
    for signature in refused {
        let outcome = reason(wallet.relay(execution, signature));
        assert(outcome == 'Account: invalid signature', outcome);
    };
}

/// Both forms of a signature are good, and still it runs once.
#[test]
fn run_once_whichever_s_signs() {
    let wallet = open();
    let execution = wallet.execution(7, array![wallet.pay(1)]);
    let signature = wallet.signed(OWNER, @execution);
    let other = array![*signature.at(0), negated(*signature.at(1))];
    assert(reason(wallet.relay(execution, other)) == 'ok', 'the other s');
    assert(reason(wallet.relay(execution, signature)) == 'SRC9: duplicated nonce', 'not again');
}

#[test]
fn are_good_for_one_account_and_one_chain() {
    let wallet = open();
    let execution = wallet.execution(7, array![wallet.pay(1)]);
    let signature = wallet.signed(OWNER, @execution);
    let twin = Wallet { address: deploy(SvcAccount::TEST_CLASS_HASH, 2, array![public_key(OWNER)]), ..wallet };
    let elsewhere = reason(twin.relay(execution, signature.clone()));
    assert(elsewhere == 'Account: invalid signature', 'a twin of the same owner');
    testing::set_chain_id('SN_MAIN');
    assert(reason(wallet.relay(execution, signature.clone())) == 'Account: invalid signature', 'another chain');
}

#[test]
fn cannot_be_played_again_from_inside() {
    let wallet = open();
    let back = messenger();
    let inner = wallet.execution(8, array![wallet.pay(1)]);
    let mut message = array![];
    inner.serialize(ref message);
    wallet.signed(OWNER, @inner).serialize(ref message);
    let mut calldata = array![wallet.address.into(), selector!("execute_from_outside_v2")];
    message.serialize(ref calldata);
    let twice = array![
        call(back, selector!("pass_on"), calldata.clone()), call(back, selector!("pass_on"), calldata.clone())
    ];
    assert(wallet.as_owner(7, twice) == 'SRC9: duplicated nonce', 'the same inner one twice');
    assert(wallet.as_owner(9, array![call(back, selector!("pass_on"), calldata)]) == 'ok', 'once');
    assert(wallet.paid() == 1, 'paid once');
}

#[test]
fn a_starknet_js_signature_is_good() {
    let wallet = open();
    let r = 0x1ef84d4b0e429eec042324c548c9413379fda99ff8f08775cb3b01492be368a;
    let s = 0x55523c08951edfcfeedb9ea8657897262ab35e52763cf4e4e717285c02e8c20;
    let asked = selector!("is_valid_signature");
    assert(*wallet.read(asked, array![VECTOR, 2, r, s]).at(0) == 'VALID', 'as it was signed');
    assert(*wallet.read(asked, array![VECTOR + 1, 2, r, s]).at(0) == 0, 'another message');
    let (r2, s2) = sign(OWNER, VECTOR);
    assert(*wallet.read(asked, array![VECTOR, 2, r2, s2]).at(0) == 'VALID', 'as the tests sign');
}
