//! The owner's key, and what the owner signed.
#[starknet::component]
pub mod OwnerComponent {
    use starknet::get_tx_info;
    use starknet::storage::{StoragePointerReadAccess, StoragePointerWriteAccess};
    use crate::interface::IOwner;
    use crate::protocol::assert_self;
    use crate::sessions::SessionsComponent;
    use crate::sessions::SessionsComponent::InternalTrait as SessionsTrait;
    use crate::signatures::is_signed_by;

    #[storage]
    struct Storage {
        public_key: felt252,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    pub enum Event {
        OwnerAdded: OwnerAdded,
        OwnerRemoved: OwnerRemoved,
    }

    #[derive(Drop, starknet::Event)]
    pub struct OwnerAdded {
        #[key]
        pub new_owner_guid: felt252,
    }

    #[derive(Drop, starknet::Event)]
    pub struct OwnerRemoved {
        #[key]
        pub removed_owner_guid: felt252,
    }

    #[embeddable_as(OwnerImpl)]
    impl Owner<
        TContractState,
        +HasComponent<TContractState>,
        impl Sessions: SessionsComponent::HasComponent<TContractState>,
        +Drop<TContractState>
    > of IOwner<ComponentState<TContractState>> {
        fn get_public_key(self: @ComponentState<TContractState>) -> felt252 {
            self.public_key.read()
        }

        /// A key that is a session's already would lift that session's limits: what it signs for itself
        /// (`key, r, s, valid_until`) could be sent as the owner's (`r, s`).
        fn set_public_key(ref self: ComponentState<TContractState>, new_public_key: felt252) {
            assert_self();
            let sessions = get_dep_component!(@self, Sessions);
            assert(!sessions.is_registered(new_public_key), 'Account: invalid public key');
            self.emit(OwnerRemoved { removed_owner_guid: self.public_key.read() });
            self.set_owner(new_public_key);
        }
    }

    #[generate_trait]
    pub impl InternalImpl<TContractState, +HasComponent<TContractState>> of InternalTrait<TContractState> {
        /// An account without a key would be lost.
        fn set_owner(ref self: ComponentState<TContractState>, public_key: felt252) {
            assert(public_key != 0, 'Account: invalid public key');
            self.public_key.write(public_key);
            self.emit(OwnerAdded { new_owner_guid: public_key });
        }

        fn is_owner_signature(
            self: @ComponentState<TContractState>, hash: felt252, signature: Span<felt252>
        ) -> bool {
            signature.len() == 2
                && is_signed_by(self.public_key.read(), hash, *signature.at(0), *signature.at(1))
        }

        fn assert_owner_signature(self: @ComponentState<TContractState>, hash: felt252, signature: Span<felt252>) {
            assert(self.is_owner_signature(hash, signature), 'Account: invalid signature');
        }

        /// The transaction that is being validated is the owner's.
        fn assert_owner_transaction(self: @ComponentState<TContractState>) {
            let transaction = get_tx_info().unbox();
            self.assert_owner_signature(transaction.transaction_hash, transaction.signature);
        }
    }
}
