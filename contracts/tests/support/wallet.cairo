//! A wallet, a token, and everybody who signs for it or pretends to.
use starknet::account::Call;
use starknet::syscalls::{call_contract_syscall, deploy_syscall};
use starknet::{ContractAddress, contract_address_const, testing};
use crate::account::SvcAccount;
use crate::interface::OutsideExecution;
use crate::outside_execution::message_hash;
use super::contracts::{Messenger, Token};
use super::signing::{public_key, sign};

pub const OWNER: felt252 = 0x1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcde;
pub const SESSION: felt252 = 0x5e5510;
pub const STRANGER: felt252 = 0xbad;
pub const CHAIN: felt252 = 'SN_SEPOLIA';
pub const NOW: u64 = 1000;
pub const UNTIL: u64 = 5000;
pub const BOB: felt252 = 0xb0b;
pub const FUNDS: u256 = 1000000;

#[derive(Copy, Drop)]
pub struct Wallet {
    pub address: ContractAddress,
    pub token: ContractAddress,
}

type Outcome = Result<Span<felt252>, Array<felt252>>;

/// A wallet of the owner with funds, on a chain with a time. Nobody is calling.
pub fn open() -> Wallet {
    testing::set_chain_id(CHAIN);
    testing::set_block_timestamp(NOW);
    testing::set_contract_address(contract_address_const::<0>());
    let address = deploy(SvcAccount::TEST_CLASS_HASH, 1, array![public_key(OWNER)]);
    let token = deploy(Token::TEST_CLASS_HASH, 1, array![]);
    let mut calldata = array![address.into()];
    FUNDS.serialize(ref calldata);
    send(token, selector!("mint"), calldata.span()).unwrap();
    testing::pop_log_raw(address).unwrap();
    Wallet { address, token }
}

pub fn deploy(class: felt252, salt: felt252, calldata: Array<felt252>) -> ContractAddress {
    let (address, _) = deploy_syscall(class.try_into().unwrap(), salt, calldata.span(), false).unwrap();
    address
}

/// Somebody whose address is not zero and not the wallet's.
pub fn messenger() -> ContractAddress {
    deploy(Messenger::TEST_CLASS_HASH, 1, array![])
}

pub fn send(to: ContractAddress, selector: felt252, calldata: Span<felt252>) -> Outcome {
    call_contract_syscall(to, selector, calldata)
}

/// Why it failed, or 'ok'.
pub fn reason(outcome: Outcome) -> felt252 {
    match outcome {
        Result::Ok(_) => 'ok',
        Result::Err(panic) => *panic.at(0),
    }
}

pub fn call(to: ContractAddress, selector: felt252, calldata: Array<felt252>) -> Call {
    Call { to, selector, calldata: calldata.span() }
}

#[generate_trait]
pub impl WalletImpl of WalletTrait {
    /// As the wallet calls itself for its owner.
    fn own(self: @Wallet, selector: felt252, calldata: Array<felt252>) -> felt252 {
        testing::set_contract_address(*self.address);
        let outcome = reason(send(*self.address, selector, calldata.span()));
        testing::set_contract_address(contract_address_const::<0>());
        outcome
    }

    fn read(self: @Wallet, selector: felt252, calldata: Array<felt252>) -> Span<felt252> {
        send(*self.address, selector, calldata.span()).unwrap()
    }

    fn execution(self: @Wallet, nonce: felt252, calls: Array<Call>) -> OutsideExecution {
        let caller = contract_address_const::<'ANY_CALLER'>();
        OutsideExecution { caller, nonce, execute_after: 0, execute_before: 1000000000, calls: calls.span() }
    }

    fn signed(self: @Wallet, key: felt252, execution: @OutsideExecution) -> Array<felt252> {
        let (r, s) = sign(key, message_hash(execution, CHAIN, *self.address));
        array![r, s]
    }

    fn signed_by_session(self: @Wallet, execution: @OutsideExecution, until: felt252) -> Array<felt252> {
        let (r, s) = sign(SESSION, message_hash(execution, CHAIN, *self.address));
        array![public_key(SESSION), r, s, until]
    }

    fn relay(self: @Wallet, execution: OutsideExecution, signature: Array<felt252>) -> Outcome {
        let mut calldata = array![];
        execution.serialize(ref calldata);
        signature.serialize(ref calldata);
        send(*self.address, selector!("execute_from_outside_v2"), calldata.span())
    }

    fn as_owner(self: @Wallet, nonce: felt252, calls: Array<Call>) -> felt252 {
        let execution = self.execution(nonce, calls);
        reason(self.relay(execution, self.signed(OWNER, @execution)))
    }

    fn as_session(self: @Wallet, nonce: felt252, calls: Array<Call>) -> felt252 {
        let execution = self.execution(nonce, calls);
        reason(self.relay(execution, self.signed_by_session(@execution, UNTIL.into())))
    }

    fn add_session(self: @Wallet, max_calls: felt252, entrypoints: Array<felt252>) {
        let mut calldata = array![public_key(SESSION), UNTIL.into(), max_calls];
        entrypoints.serialize(ref calldata);
        assert(self.own(selector!("add_or_update_session_key"), calldata) == 'ok', 'the session is added');
    }

    fn session(self: @Wallet) -> Span<felt252> {
        self.read(selector!("get_session_data"), array![public_key(SESSION)])
    }

    fn set_policy(self: @Wallet, max_per_call: u256, max_per_window: u256, window_seconds: felt252) {
        let mut calldata = array![public_key(SESSION), (*self.token).into()];
        max_per_call.serialize(ref calldata);
        max_per_window.serialize(ref calldata);
        calldata.append(window_seconds);
        assert(self.own(selector!("set_spending_policy"), calldata) == 'ok', 'the policy is set');
    }

    /// `spent_in_window` and `window_start`.
    fn spent(self: @Wallet) -> (u256, felt252) {
        let policy = self.read(selector!("get_spending_policy"), array![public_key(SESSION), (*self.token).into()]);
        let low: u128 = (*policy.at(5)).try_into().unwrap();
        let high: u128 = (*policy.at(6)).try_into().unwrap();
        (u256 { low, high }, *policy.at(7))
    }

    fn pay(self: @Wallet, amount: felt252) -> Call {
        call(*self.token, selector!("transfer"), array![BOB, amount, 0])
    }

    fn paid(self: @Wallet) -> felt252 {
        *send(*self.token, selector!("balance_of"), array![BOB].span()).unwrap().at(0)
    }
}
