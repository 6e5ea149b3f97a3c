//! SNIP-9, version 2: what was signed (SNIP-12, revision 1), when and by whom it may be sent, and that it is sent once.
use core::hash::HashStateTrait;
use core::poseidon::{PoseidonTrait, poseidon_hash_span};
use starknet::ContractAddress;
use starknet::account::Call;
use super::interface::OutsideExecution;

const DOMAIN_TYPE_HASH: felt252 =
    selector!(
        "\"StarknetDomain\"(\"name\":\"shortstring\",\"version\":\"shortstring\",\"chainId\":\"shortstring\",\"revision\":\"shortstring\")"
    );
const CALL_TYPE_HASH: felt252 =
    selector!("\"Call\"(\"To\":\"ContractAddress\",\"Selector\":\"selector\",\"Calldata\":\"felt*\")");
const OUTSIDE_EXECUTION_TYPE_HASH: felt252 =
    selector!(
        "\"OutsideExecution\"(\"Caller\":\"ContractAddress\",\"Nonce\":\"felt\",\"Execute After\":\"u128\",\"Execute Before\":\"u128\",\"Calls\":\"Call*\")\"Call\"(\"To\":\"ContractAddress\",\"Selector\":\"selector\",\"Calldata\":\"felt*\")"
    );

/// Chain and account are under the signature: it is good on no other chain and for no other account, not even for one
/// of the same owner.
pub fn message_hash(execution: @OutsideExecution, chain_id: felt252, account: ContractAddress) -> felt252 {
    let domain = PoseidonTrait::new()
        .update(DOMAIN_TYPE_HASH)
        .update('Account.execute_from_outside')
        .update(2)
        .update(chain_id)
        .update(1)
        .finalize();
    PoseidonTrait::new()
        .update('StarkNet Message')
        .update(domain)
        .update(account.into())
        .update(struct_hash(execution))
        .finalize()
}

fn struct_hash(execution: @OutsideExecution) -> felt252 {
    let mut calls = array![];
    for call in *execution.calls {
        calls.append(call_hash(call));
    };
    PoseidonTrait::new()
        .update(OUTSIDE_EXECUTION_TYPE_HASH)
        .update((*execution.caller).into())
        .update(*execution.nonce)
        .update((*execution.execute_after).into())
        .update((*execution.execute_before).into())
        .update(poseidon_hash_span(calls.span()))
        .finalize()
}

fn call_hash(call: @Call) -> felt252 {
    PoseidonTrait::new()
        .update(CALL_TYPE_HASH)
        .update((*call.to).into())
        .update(*call.selector)
        .update(poseidon_hash_span(*call.calldata))
        .finalize()
}

#[starknet::component]
pub mod OutsideExecutionComponent {
    use starknet::storage::{Map, StorageMapReadAccess, StorageMapWriteAccess};
    use starknet::{get_block_timestamp, get_caller_address};
    use crate::interface::{IOutsideExecutionNonces, OutsideExecution};

    #[storage]
    struct Storage {
        /// READY has a map of the same name, so what was spent before an upgrade cannot be played again after it.
        outside_nonces: Map<felt252, bool>,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    pub enum Event {}

    #[embeddable_as(NoncesImpl)]
    impl Nonces<
        TContractState, +HasComponent<TContractState>
    > of IOutsideExecutionNonces<ComponentState<TContractState>> {
        fn is_valid_outside_execution_nonce(self: @ComponentState<TContractState>, nonce: felt252) -> bool {
            !self.outside_nonces.read(nonce)
        }
    }

    #[generate_trait]
    pub impl InternalImpl<TContractState, +HasComponent<TContractState>> of InternalTrait<TContractState> {
        /// Both ends of the time are outside of it. The nonce is spent before anything is called, so that no call can
        /// come back in with the same execution; if anything after it fails, all of it is undone.
        fn admit(ref self: ComponentState<TContractState>, execution: @OutsideExecution) {
            let caller = *execution.caller;
            assert(caller.into() == 'ANY_CALLER' || caller == get_caller_address(), 'SRC9: invalid caller');
            let now = get_block_timestamp();
            assert(*execution.execute_after < now, 'SRC9: now <= execute_after');
            assert(now < *execution.execute_before, 'SRC9: now >= execute_before');
            assert(!self.outside_nonces.read(*execution.nonce), 'SRC9: duplicated nonce');
            self.outside_nonces.write(*execution.nonce, true);
        }
    }
}
