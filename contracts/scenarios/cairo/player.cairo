// Plays scenarios: for each step it does what the row says, then compares.
use core::panic_with_felt252;
use starknet::account::Call;
use starknet::syscalls::{call_contract_syscall, deploy_syscall};
use starknet::{ContractAddress, testing};
use super::calls::{CallingTrait, serialized};
use super::comparison::{Answer, ComparingTrait};
use super::row::{ReadingTrait, Row};
use super::token::Token;

// What a step does.
const CLOCK: felt252 = 1;
const DEPLOY: felt252 = 2;
const CALL: felt252 = 3;
const TRANSACTION: felt252 = 4;

// Which account is deployed; it is the salt as well.
const WALLET: felt252 = 0;

const SUPPLY: felt252 = 1000;

// The row begins with the chain id, the time, and whether the wallet has the token and the coin.
pub fn play(felts: Span<felt252>, svc_class: felt252, ready_class: felt252) {
    let mut row = Row { felts, step: 0, wallet: 0, other: 0, token: 0, coin: 0, svc_class, ready_class };
    testing::set_chain_id(row.next());
    testing::set_block_timestamp(row.next().try_into().unwrap());
    let tokens = (row.next(), row.next());
    while !row.felts.is_empty() {
        row.step += 1;
        let what = row.next();
        if what == CLOCK {
            testing::set_block_timestamp(row.next().try_into().unwrap());
        } else if what == DEPLOY {
            row.deploy(tokens);
        } else if what == CALL {
            let answer = row.call();
            row.compare(answer, false);
        } else if what == TRANSACTION {
            row.transaction();
        } else {
            row.wrong('unknown step', 0, what);
        }
    }
}

#[generate_trait]
impl Playing of PlayingTrait {
    fn deploy(ref self: Row, tokens: (felt252, felt252)) {
        let salt = self.next();
        let class = self.felt();
        let calldata = self.felts();
        match deploy_syscall(class.try_into().unwrap(), salt, calldata.span(), false) {
            Result::Ok((
                address, _,
            )) => {
                if salt == WALLET {
                    self.wallet = address.into();
                    let (token, coin) = tokens;
                    if token != 0 {
                        self.token = mint(self.wallet, 'token');
                    }
                    if coin != 0 {
                        self.coin = mint(self.wallet, 'coin');
                    }
                } else {
                    self.other = address.into();
                }
                self.compare(Result::Ok(array![].span()), false);
            },
            Result::Err(felts) => self.compare(Result::Err(felts), false),
        }
    }

    // Somebody calls a contract.
    fn call(ref self: Row) -> Answer {
        testing::set_contract_address(self.felt().try_into().unwrap());
        let Call { to, selector, calldata } = self.one_call();
        call_contract_syscall(to, selector, calldata)
    }

    // The protocol asks the account, then runs it.
    fn transaction(ref self: Row) {
        let account: ContractAddress = self.felt().try_into().unwrap();
        let calls = self.calls();
        let hash = self.next();
        let signature = self.signature(hash);
        testing::set_contract_address(0.try_into().unwrap());
        testing::set_version(3);
        testing::set_transaction_hash(hash);
        testing::set_signature(signature.span());
        let calldata = serialized(calls.span()).span();
        match call_contract_syscall(account, selector!("__validate__"), calldata) {
            Result::Ok(answer) => {
                self.same('validated', 'VALID', *answer.at(0));
                let answer = call_contract_syscall(account, selector!("__execute__"), calldata);
                self.compare(answer, false);
            },
            Result::Err(felts) => self.compare(Result::Err(felts), true),
        }
        testing::set_signature(array![].span());
    }
}

fn mint(wallet: felt252, salt: felt252) -> felt252 {
    let calldata = array![wallet, SUPPLY, 0].span();
    match deploy_syscall(Token::TEST_CLASS_HASH.try_into().unwrap(), salt, calldata, false) {
        Result::Ok((address, _)) => address.into(),
        Result::Err(felts) => panic_with_felt252(*felts.at(0)),
    }
}
