// Stands in for READY's class: its storage names and the way it hands itself over to a new class, nothing else.
use starknet::ClassHash;

#[starknet::interface]
trait IReady<T> {
    fn get_owner(self: @T) -> felt252;
    fn get_guardian(self: @T) -> felt252;
    fn upgrade(ref self: T, new_implementation: ClassHash, data: Array<felt252>);
}

#[starknet::contract]
pub mod Ready {
    use starknet::storage::{StoragePointerReadAccess, StoragePointerWriteAccess};
    use starknet::syscalls::library_call_syscall;
    use starknet::{ClassHash, SyscallResultTrait, get_caller_address, get_contract_address};

    const SRC6: felt252 = 0x2ceccef7f994940b3962a6c67e0ba4fcd37df7d131417c604f91e03caecc1cd;

    #[storage]
    struct Storage {
        _signer: felt252,
        _guardian: felt252,
    }

    // Owner and guardian are enums: a Stark key is variant 0. The guardian is an option of one.
    #[constructor]
    fn constructor(ref self: ContractState, kind: felt252, owner: felt252, guardian: Option<(felt252, felt252)>) {
        self._signer.write(owner);
        if let Option::Some((_, key)) = guardian {
            self._guardian.write(key);
        }
    }

    #[abi(embed_v0)]
    impl ReadyImpl of super::IReady<ContractState> {
        fn get_owner(self: @ContractState) -> felt252 {
            let owner = self._signer.read();
            assert(owner != 0, 'argent/owner-not-found');
            owner
        }

        fn get_guardian(self: @ContractState) -> felt252 {
            self._guardian.read()
        }

        fn upgrade(ref self: ContractState, new_implementation: ClassHash, data: Array<felt252>) {
            assert(get_caller_address() == get_contract_address(), 'argent/only-self');
            let asked = array![SRC6].span();
            let answer = library_call_syscall(new_implementation, selector!("supports_interface"), asked);
            assert(*answer.unwrap_syscall().at(0) == 1, 'argent/invalid-implementation');
            let mut calldata: Array<felt252> = array![new_implementation.into()];
            data.serialize(ref calldata);
            library_call_syscall(new_implementation, selector!("perform_upgrade"), calldata.span()).unwrap_syscall();
        }
    }
}
