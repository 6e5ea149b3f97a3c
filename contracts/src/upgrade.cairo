//! The way to another class, and the way here from READY's.
#[starknet::component]
pub mod UpgradeComponent {
    use starknet::storage::{StoragePointerReadAccess, StoragePointerWriteAccess};
    use starknet::syscalls::replace_class_syscall;
    use starknet::{ClassHash, SyscallResultTrait};
    use crate::interface::IUpgrade;
    use crate::owner::OwnerComponent;
    use crate::protocol::assert_self;

    #[storage]
    struct Storage {
        /// Where READY (Argent 0.4.0) keeps its owner's and its guardian's Stark keys; zero in every other account.
        _signer: felt252,
        _guardian: felt252,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    pub enum Event {
        Upgraded: Upgraded,
    }

    #[derive(Drop, starknet::Event)]
    pub struct Upgraded {
        #[key]
        pub class_hash: ClassHash,
    }

    #[embeddable_as(UpgradeImpl)]
    impl Upgrade<
        TContractState,
        +HasComponent<TContractState>,
        impl Owner: OwnerComponent::HasComponent<TContractState>,
        +Drop<TContractState>
    > of IUpgrade<ComponentState<TContractState>> {
        fn upgrade(ref self: ComponentState<TContractState>, new_class_hash: ClassHash) {
            assert_self();
            self.replace_class(new_class_hash);
        }

        /// A READY account runs this over its own storage, by library call, when its owner upgrades it. An SVC account
        /// has no `_signer`, so here it leads nowhere.
        fn perform_upgrade(
            ref self: ComponentState<TContractState>, new_implementation: ClassHash, data: Span<felt252>
        ) {
            assert_self();
            let public_key = self._signer.read();
            assert(public_key != 0, 'Account: no legacy owner');
            // Two keys guard such an account; one alone must not come out of it.
            assert(self._guardian.read() == 0, 'Account: guardian is set');
            // READY would run calls that stand here. The owner signed for them, so they are not dropped in silence.
            assert(data.is_empty(), 'Account: unexpected data');
            let mut owner = get_dep_component_mut!(ref self, Owner);
            owner.public_key.write(public_key);
            self._signer.write(0);
            self.replace_class(new_implementation);
        }
    }

    #[generate_trait]
    impl PrivateImpl<TContractState, +HasComponent<TContractState>> of PrivateTrait<TContractState> {
        /// Zero would leave an address without code. A class that is not declared is refused by the system call.
        fn replace_class(ref self: ComponentState<TContractState>, new_class_hash: ClassHash) {
            assert(new_class_hash.is_non_zero(), 'Account: invalid class hash');
            replace_class_syscall(new_class_hash).unwrap_syscall();
            self.emit(Upgraded { class_hash: new_class_hash });
        }
    }
}
