//! Contracts that a wallet meets: a token, somebody who calls back, READY, and another class.

/// A token as loose as tokens get: it asks for no allowance when the sender is the caller.
#[starknet::contract]
pub mod Token {
    use starknet::storage::{Map, StorageMapReadAccess, StorageMapWriteAccess};
    use starknet::{ContractAddress, get_caller_address};

    #[storage]
    struct Storage {
        balances: Map<ContractAddress, u256>,
        allowances: Map<(ContractAddress, ContractAddress), u256>,
    }

    #[external(v0)]
    fn mint(ref self: ContractState, to: ContractAddress, amount: u256) {
        self.balances.write(to, self.balances.read(to) + amount);
    }

    #[external(v0)]
    fn balance_of(self: @ContractState, owner: ContractAddress) -> u256 {
        self.balances.read(owner)
    }

    #[external(v0)]
    fn transfer(ref self: ContractState, recipient: ContractAddress, amount: u256) -> bool {
        move(ref self, get_caller_address(), recipient, amount)
    }

    #[external(v0)]
    fn transfer_from(
        ref self: ContractState, sender: ContractAddress, recipient: ContractAddress, amount: u256
    ) -> bool {
        move(ref self, sender, recipient, amount)
    }

    #[external(v0)]
    fn approve(ref self: ContractState, spender: ContractAddress, amount: u256) -> bool {
        self.allowances.write((get_caller_address(), spender), amount);
        true
    }

    #[external(v0)]
    fn increase_allowance(ref self: ContractState, spender: ContractAddress, amount: u256) -> bool {
        approve(ref self, spender, amount)
    }

    fn move(ref self: ContractState, from: ContractAddress, to: ContractAddress, amount: u256) -> bool {
        let balance = self.balances.read(from);
        assert(balance >= amount, 'ERC20: insufficient balance');
        self.balances.write(from, balance - amount);
        self.balances.write(to, self.balances.read(to) + amount);
        true
    }
}

/// Calls whoever it is told to, in its own name: a stranger, and one who calls back while he is being called.
#[starknet::contract]
pub mod Messenger {
    use starknet::syscalls::call_contract_syscall;
    use starknet::{ContractAddress, SyscallResultTrait};

    #[storage]
    struct Storage {}

    #[external(v0)]
    fn pass_on(
        ref self: ContractState, to: ContractAddress, selector: felt252, calldata: Span<felt252>
    ) -> Span<felt252> {
        call_contract_syscall(to, selector, calldata).unwrap_syscall()
    }
}

/// READY (Argent 0.4.0) as far as an upgrade meets it: its two variables, and its protocol with the new class.
#[starknet::contract]
pub mod Ready {
    use starknet::storage::{
        Map, StorageMapWriteAccess, StoragePointerReadAccess, StoragePointerWriteAccess
    };
    use starknet::syscalls::library_call_syscall;
    use starknet::{ClassHash, SyscallResultTrait, get_caller_address, get_contract_address};

    #[storage]
    struct Storage {
        _signer: felt252,
        _guardian: felt252,
        outside_nonces: Map<felt252, bool>,
    }

    #[constructor]
    fn constructor(ref self: ContractState, owner: felt252, guardian: felt252) {
        self._signer.write(owner);
        self._guardian.write(guardian);
    }

    #[external(v0)]
    fn spend_nonce(ref self: ContractState, nonce: felt252) {
        self.outside_nonces.write(nonce, true);
    }

    #[external(v0)]
    fn get_owner(self: @ContractState) -> felt252 {
        let owner = self._signer.read();
        assert(owner != 0, 'argent/owner-not-found');
        owner
    }

    #[external(v0)]
    fn upgrade(ref self: ContractState, new_implementation: ClassHash, data: Array<felt252>) {
        assert(get_caller_address() == get_contract_address(), 'argent/only-self');
        let src6 = array![0x2ceccef7f994940b3962a6c67e0ba4fcd37df7d131417c604f91e03caecc1cd];
        let supported = library_call_syscall(
            new_implementation, selector!("supports_interface"), src6.span()
        )
            .unwrap_syscall();
        assert(*supported.at(0) == 1, 'argent/invalid-implementation');
        let mut calldata = array![];
        new_implementation.serialize(ref calldata);
        data.serialize(ref calldata);
        library_call_syscall(new_implementation, selector!("perform_upgrade"), calldata.span()).unwrap_syscall();
    }
}

/// A class that a wallet can become.
#[starknet::contract]
pub mod Successor {
    use starknet::storage::StoragePointerReadAccess;

    #[storage]
    struct Storage {
        public_key: felt252,
    }

    #[external(v0)]
    fn successor(self: @ContractState) -> felt252 {
        self.public_key.read()
    }
}
