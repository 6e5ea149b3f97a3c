//! Who signs, how many of them are needed, and who has signed.
use core::ec::EcPointTrait;

pub const MAX_SIGNERS: u32 = 20;
/// `public_key, r, s`.
pub const FELTS_PER_SIGNATURE: u32 = 3;

/// A key that is the x of no point can never sign.
pub fn is_public_key(key: felt252) -> bool {
    key != 0 && EcPointTrait::new_nz_from_x(key).is_some()
}

#[starknet::component]
pub mod SignersComponent {
    use core::panic_with_felt252;
    use starknet::storage::{
        Map, StorageMapReadAccess, StorageMapWriteAccess, StoragePointerReadAccess, StoragePointerWriteAccess
    };
    use crate::interface::ISigners;
    use crate::protocol::assert_self;
    use crate::signatures::is_signed_by;
    use super::{FELTS_PER_SIGNATURE, MAX_SIGNERS, is_public_key};

    #[storage]
    struct Storage {
        threshold: u32,
        signer_count: u32,
        /// In increasing order. What stands from `signer_count` on is of an earlier list.
        signer_keys: Map<u32, felt252>,
        signers: Map<felt252, bool>,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    pub enum Event {
        SignerAdded: SignerAdded,
        SignerRemoved: SignerRemoved,
        ThresholdChanged: ThresholdChanged,
    }

    #[derive(Drop, starknet::Event)]
    pub struct SignerAdded {
        #[key]
        pub public_key: felt252,
    }

    #[derive(Drop, starknet::Event)]
    pub struct SignerRemoved {
        #[key]
        pub public_key: felt252,
    }

    #[derive(Drop, starknet::Event)]
    pub struct ThresholdChanged {
        pub threshold: u32,
    }

    #[embeddable_as(SignersImpl)]
    impl Signers<
        TContractState, +HasComponent<TContractState>, +Drop<TContractState>
    > of ISigners<ComponentState<TContractState>> {
        fn get_signers(self: @ComponentState<TContractState>) -> Array<felt252> {
            self.list()
        }

        fn get_threshold(self: @ComponentState<TContractState>) -> u32 {
            self.threshold.read()
        }

        fn is_signer(self: @ComponentState<TContractState>, public_key: felt252) -> bool {
            self.signers.read(public_key)
        }

        fn set_signers(ref self: ComponentState<TContractState>, signers: Array<felt252>, threshold: u32) {
            assert_self();
            self.replace(signers.span(), threshold);
        }
    }

    #[generate_trait]
    pub impl InternalImpl<
        TContractState, +HasComponent<TContractState>, +Drop<TContractState>
    > of InternalTrait<TContractState> {
        /// What would leave nobody able to sign is refused: no signers, keys that are none, more needed than there are.
        fn replace(ref self: ComponentState<TContractState>, signers: Span<felt252>, threshold: u32) {
            assert_signers(signers);
            assert(threshold != 0 && threshold <= signers.len(), 'Treasury: invalid threshold');
            for key in self.list() {
                if !contains(signers, key) {
                    self.signers.write(key, false);
                    self.emit(SignerRemoved { public_key: key });
                }
            };
            let mut index = 0;
            for key in signers {
                self.signer_keys.write(index, *key);
                index += 1;
                if !self.signers.read(*key) {
                    self.signers.write(*key, true);
                    self.emit(SignerAdded { public_key: *key });
                }
            };
            self.signer_count.write(index);
            if self.threshold.read() != threshold {
                self.threshold.write(threshold);
                self.emit(ThresholdChanged { threshold });
            }
        }

        /// The current signers who signed the hash, or why the list is refused. Keys rise strictly, so each counts
        /// once. An entry of a key that is no signer does not count; a wrong one of a signer refuses all.
        fn approvals(
            self: @ComponentState<TContractState>, hash: felt252, mut signature: Span<felt252>
        ) -> Result<Array<felt252>, felt252> {
            let felts = signature.len();
            if felts == 0 || felts % FELTS_PER_SIGNATURE != 0 || felts > FELTS_PER_SIGNATURE * MAX_SIGNERS {
                return Result::Err('Treasury: invalid signature');
            }
            let mut keys = array![];
            let mut last: u256 = 0;
            let mut refused = 0;
            while !signature.is_empty() {
                let key = *signature.pop_front().unwrap();
                let r = *signature.pop_front().unwrap();
                let s = *signature.pop_front().unwrap();
                if key.into() <= last {
                    refused = 'Treasury: unordered signatures';
                    break;
                }
                last = key.into();
                if self.signers.read(key) {
                    if !is_signed_by(key, hash, r, s) {
                        refused = 'Treasury: invalid signature';
                        break;
                    }
                    keys.append(key);
                }
            };
            if refused != 0 {
                return Result::Err(refused);
            }
            Result::Ok(keys)
        }

        fn require_approvals(
            self: @ComponentState<TContractState>, hash: felt252, signature: Span<felt252>
        ) -> Array<felt252> {
            match self.approvals(hash, signature) {
                Result::Ok(keys) => keys,
                Result::Err(reason) => panic_with_felt252(reason),
            }
        }

        fn is_enough(self: @ComponentState<TContractState>, approvals: u32) -> bool {
            approvals >= self.threshold.read()
        }
    }

    #[generate_trait]
    impl PrivateImpl<TContractState, +HasComponent<TContractState>> of PrivateTrait<TContractState> {
        fn list(self: @ComponentState<TContractState>) -> Array<felt252> {
            let count = self.signer_count.read();
            let mut keys = array![];
            let mut index = 0;
            while index != count {
                keys.append(self.signer_keys.read(index));
                index += 1;
            };
            keys
        }
    }

    fn assert_signers(signers: Span<felt252>) {
        assert(!signers.is_empty() && signers.len() <= MAX_SIGNERS, 'Treasury: invalid signers');
        let mut last: u256 = 0;
        for key in signers {
            assert((*key).into() > last, 'Treasury: invalid signers');
            assert(is_public_key(*key), 'Treasury: invalid signers');
            last = (*key).into();
        };
    }

    fn contains(mut keys: Span<felt252>, wanted: felt252) -> bool {
        let mut found = false;
        while let Option::Some(key) = keys.pop_front() {
            if *key == wanted {
                found = true;
                break;
            }
        };
        found
    }
}
