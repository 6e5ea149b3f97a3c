//! Where the rooms meet: who signed, what that allows, and then the calls.
#[starknet::contract(account)]
pub mod SvcAccount {
    use starknet::account::Call;
    use starknet::{VALIDATED, get_contract_address, get_tx_info};
    use crate::interface::{IAccount, OutsideExecution};
    use crate::outside_execution::{OutsideExecutionComponent, message_hash};
    use crate::owner::OwnerComponent;
    use crate::policies::PoliciesComponent;
    use crate::protocol::{assert_started_by_protocol, execute_calls};
    use crate::sessions::SessionsComponent;
    use crate::signatures::{SessionSignature, is_signed_by, session_signature};
    use crate::upgrade::UpgradeComponent;

    const SRC5: felt252 = 0x3f918d17e5ee77373b56385708f855659a07f75997f365cf87748628532a055;
    const SRC6: felt252 = 0x2ceccef7f994940b3962a6c67e0ba4fcd37df7d131417c604f91e03caecc1cd;
    const SRC9_V2: felt252 = 0x1d1144bb2138366ff28d8e9ab57456b1d332ac42196230c3a602003c89872;

    component!(path: OwnerComponent, storage: owner, event: OwnerEvent);
    component!(path: SessionsComponent, storage: session_keys, event: SessionsEvent);
    component!(path: PoliciesComponent, storage: policies, event: PoliciesEvent);
    component!(path: OutsideExecutionComponent, storage: outside_execution, event: OutsideExecutionEvent);
    component!(path: UpgradeComponent, storage: upgrading, event: UpgradeEvent);

    #[abi(embed_v0)]
    impl OwnerImpl = OwnerComponent::OwnerImpl<ContractState>;
    #[abi(embed_v0)]
    impl SessionsImpl = SessionsComponent::SessionsImpl<ContractState>;
    #[abi(embed_v0)]
    impl PoliciesImpl = PoliciesComponent::PoliciesImpl<ContractState>;
    #[abi(embed_v0)]
    impl NoncesImpl = OutsideExecutionComponent::NoncesImpl<ContractState>;
    #[abi(embed_v0)]
    impl UpgradeImpl = UpgradeComponent::UpgradeImpl<ContractState>;

    impl OwnerInternal = OwnerComponent::InternalImpl<ContractState>;
    impl SessionsInternal = SessionsComponent::InternalImpl<ContractState>;
    impl PoliciesInternal = PoliciesComponent::InternalImpl<ContractState>;
    impl OutsideExecutionInternal = OutsideExecutionComponent::InternalImpl<ContractState>;

    /// Components keep their variables under their own names, so these stand where the contract of one file would have
    /// them: `public_key`, `sessions`, `spending_policies`, `outside_nonces`.
    #[storage]
    struct Storage {
        #[substorage(v0)]
        owner: OwnerComponent::Storage,
        #[substorage(v0)]
        session_keys: SessionsComponent::Storage,
        #[substorage(v0)]
        policies: PoliciesComponent::Storage,
        #[substorage(v0)]
        outside_execution: OutsideExecutionComponent::Storage,
        #[substorage(v0)]
        upgrading: UpgradeComponent::Storage,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    pub enum Event {
        #[flat]
        OwnerEvent: OwnerComponent::Event,
        #[flat]
        SessionsEvent: SessionsComponent::Event,
        #[flat]
        PoliciesEvent: PoliciesComponent::Event,
        #[flat]
        OutsideExecutionEvent: OutsideExecutionComponent::Event,
        #[flat]
        UpgradeEvent: UpgradeComponent::Event,
    }

    #[constructor]
    fn constructor(ref self: ContractState, public_key: felt252) {
        self.owner.set_owner(public_key);
    }

    #[abi(embed_v0)]
    impl AccountImpl of IAccount<ContractState> {
        /// The owner's alone. A transaction of the account is paid by the account, at a price and a tip that its signer
        /// names, and a reverted one is paid as well: no policy and no number of calls bounds that, so a session could
        /// burn all STRK. Sessions come through `execute_from_outside_v2`, where the sender pays.
        fn __validate__(self: @ContractState, calls: Array<Call>) -> felt252 {
            self.owner.assert_owner_transaction();
            VALIDATED
        }

        fn __execute__(ref self: ContractState, calls: Array<Call>) -> Array<Span<felt252>> {
            assert_started_by_protocol();
            execute_calls(calls.span())
        }

        fn __validate_declare__(self: @ContractState, class_hash: felt252) -> felt252 {
            self.owner.assert_owner_transaction();
            VALIDATED
        }

        /// The constructor has run: the key is the one of its calldata, which the address is derived from.
        fn __validate_deploy__(
            self: @ContractState, class_hash: felt252, contract_address_salt: felt252, public_key: felt252
        ) -> felt252 {
            self.owner.assert_owner_transaction();
            VALIDATED
        }

        /// A session speaks for its calls alone: messages are the owner's.
        fn is_valid_signature(self: @ContractState, hash: felt252, signature: Array<felt252>) -> felt252 {
            if self.owner.is_owner_signature(hash, signature.span()) {
                VALIDATED
            } else {
                0
            }
        }

        fn supports_interface(self: @ContractState, interface_id: felt252) -> bool {
            interface_id == SRC5 || interface_id == SRC6 || interface_id == SRC9_V2
        }

        fn execute_from_outside_v2(
            ref self: ContractState, outside_execution: OutsideExecution, signature: Span<felt252>
        ) -> Array<Span<felt252>> {
            self.outside_execution.admit(@outside_execution);
            let chain_id = get_tx_info().unbox().chain_id;
            let hash = message_hash(@outside_execution, chain_id, get_contract_address());
            let calls = outside_execution.calls;
            match session_signature(signature) {
                Option::Some(session) => self.charge_session(hash, session, calls),
                Option::None => self.owner.assert_owner_signature(hash, signature),
            }
            execute_calls(calls)
        }
    }

    #[generate_trait]
    impl PrivateImpl of PrivateTrait {
        /// The rules before the signature, so that a session learns what it may not do without signing for it.
        fn charge_session(ref self: ContractState, hash: felt252, session: SessionSignature, calls: Span<Call>) {
            let SessionSignature { session_key, r, s, .. } = session;
            self.session_keys.assert_session(@session, calls);
            assert(is_signed_by(session_key, hash, r, s), 'Account: invalid signature');
            self.session_keys.count_execution(session_key);
            self.policies.count_spending(session_key, calls);
        }
    }
}
