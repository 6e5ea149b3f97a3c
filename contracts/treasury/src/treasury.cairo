//! Where the rooms meet: who signed, what that allows, and then the calls.
#[starknet::contract(account)]
pub mod Treasury {
    use starknet::account::Call;
    use starknet::syscalls::{library_call_syscall, replace_class_syscall};
    use starknet::{ClassHash, SyscallResultTrait, VALIDATED, get_contract_address, get_tx_info};
    use crate::interface::{ITreasury, LimitTerms, OutsideExecution};
    use crate::limits::LimitsComponent;
    use crate::outside_execution::{OutsideExecutionComponent, message_hash};
    use crate::protocol::{assert_self, assert_started_by_protocol, execute_calls};
    use crate::signers::SignersComponent;

    const SRC5: felt252 = 0x3f918d17e5ee77373b56385708f855659a07f75997f365cf87748628532a055;
    const SRC6: felt252 = 0x2ceccef7f994940b3962a6c67e0ba4fcd37df7d131417c604f91e03caecc1cd;
    const SRC9_V2: felt252 = 0x1d1144bb2138366ff28d8e9ab57456b1d332ac42196230c3a602003c89872;
    /// Of classes that keep signers, threshold and limits where this one does.
    const TREASURY: felt252 = selector!("svc_treasury_storage_1");

    component!(path: SignersComponent, storage: signing, event: SignersEvent);
    component!(path: LimitsComponent, storage: limiting, event: LimitsEvent);
    component!(path: OutsideExecutionComponent, storage: outside_execution, event: OutsideExecutionEvent);

    #[abi(embed_v0)]
    impl SignersImpl = SignersComponent::SignersImpl<ContractState>;
    #[abi(embed_v0)]
    impl LimitsImpl = LimitsComponent::LimitsImpl<ContractState>;
    #[abi(embed_v0)]
    impl NoncesImpl = OutsideExecutionComponent::NoncesImpl<ContractState>;

    impl SignersInternal = SignersComponent::InternalImpl<ContractState>;
    impl LimitsInternal = LimitsComponent::InternalImpl<ContractState>;
    impl OutsideExecutionInternal = OutsideExecutionComponent::InternalImpl<ContractState>;

    #[storage]
    struct Storage {
        #[substorage(v0)]
        signing: SignersComponent::Storage,
        #[substorage(v0)]
        limiting: LimitsComponent::Storage,
        #[substorage(v0)]
        outside_execution: OutsideExecutionComponent::Storage,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    pub enum Event {
        Approved: Approved,
        Upgraded: Upgraded,
        #[flat]
        SignersEvent: SignersComponent::Event,
        #[flat]
        LimitsEvent: LimitsComponent::Event,
        #[flat]
        OutsideExecutionEvent: OutsideExecutionComponent::Event,
    }

    /// An outside execution that runs: who approved it, and whether by a limit.
    #[derive(Drop, starknet::Event)]
    pub struct Approved {
        #[key]
        pub nonce: felt252,
        pub signers: Span<felt252>,
        pub within_limit: bool,
    }

    #[derive(Drop, starknet::Event)]
    pub struct Upgraded {
        #[key]
        pub class_hash: ClassHash,
    }

    #[constructor]
    fn constructor(ref self: ContractState, signers: Array<felt252>, threshold: u32, limits: Array<LimitTerms>) {
        self.signing.replace(signers.span(), threshold);
        for terms in limits {
            self.limiting.put(terms);
        };
    }

    #[abi(embed_v0)]
    impl TreasuryImpl of ITreasury<ContractState> {
        /// The threshold's alone: a transaction of the account is paid by the account, and no limit bounds its price.
        fn __validate__(self: @ContractState, calls: Array<Call>) -> felt252 {
            let transaction = get_tx_info().unbox();
            let approvals = self.signing.require_approvals(transaction.transaction_hash, transaction.signature);
            assert(self.signing.is_enough(approvals.len()), 'Treasury: threshold not reached');
            VALIDATED
        }

        fn __execute__(ref self: ContractState, calls: Array<Call>) -> Array<Span<felt252>> {
            assert_started_by_protocol();
            execute_calls(calls.span())
        }

        fn is_valid_signature(self: @ContractState, hash: felt252, signature: Array<felt252>) -> felt252 {
            match self.signing.approvals(hash, signature.span()) {
                Result::Ok(keys) => if self.signing.is_enough(keys.len()) {
                    VALIDATED
                } else {
                    0
                },
                Result::Err(_) => 0,
            }
        }

        fn supports_interface(self: @ContractState, interface_id: felt252) -> bool {
            interface_id == SRC5 || interface_id == SRC6 || interface_id == SRC9_V2 || interface_id == TREASURY
        }

        /// Nonce and limits are written before the first call goes out, so a contract that calls back finds them.
        fn execute_from_outside_v2(
            ref self: ContractState, outside_execution: OutsideExecution, signature: Span<felt252>
        ) -> Array<Span<felt252>> {
            self.outside_execution.admit(@outside_execution);
            let chain_id = get_tx_info().unbox().chain_id;
            let hash = message_hash(@outside_execution, chain_id, get_contract_address());
            let OutsideExecution { nonce, calls, .. } = outside_execution;
            let approvals = self.signing.require_approvals(hash, signature);
            let within_limit = !self.signing.is_enough(approvals.len());
            if within_limit {
                self.limiting.charge(approvals.len(), calls);
            }
            self.emit(Approved { nonce, signers: approvals.span(), within_limit });
            execute_calls(calls)
        }

        /// A class that does not read this storage would lock the account, so it is asked first.
        fn upgrade(ref self: ContractState, new_class_hash: ClassHash) {
            assert_self();
            assert(new_class_hash.is_non_zero(), 'Treasury: invalid class hash');
            let question = array![TREASURY].span();
            let answer = library_call_syscall(new_class_hash, selector!("supports_interface"), question)
                .unwrap_syscall();
            assert(answer.len() == 1 && *answer.at(0) == 1, 'Treasury: invalid class hash');
            replace_class_syscall(new_class_hash).unwrap_syscall();
            self.emit(Upgraded { class_hash: new_class_hash });
        }
    }
}
