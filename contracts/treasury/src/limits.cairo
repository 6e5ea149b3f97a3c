//! How much of a token fewer signers than the threshold may transfer within a window of time.
use starknet::account::Call;

/// By token. `window_seconds` is zero where there is no limit, and nowhere else.
#[derive(Copy, Drop, starknet::Store)]
pub struct Limit {
    pub threshold: u32,
    pub max_per_window: u256,
    pub window_seconds: u64,
    pub spent_in_window: u256,
    pub window_start: u64,
}

/// Exactly a recipient and an amount: what cannot be measured is not let through.
pub fn transfer_amount(call: @Call) -> u256 {
    let calldata = *call.calldata;
    assert(calldata.len() == 3, 'Treasury: bad calldata');
    let low: u128 = (*calldata.at(1)).try_into().expect('Treasury: bad calldata');
    let high: u128 = (*calldata.at(2)).try_into().expect('Treasury: bad calldata');
    u256 { low, high }
}

/// A window opens with the first transfer after the last one ended. Both comparisons are of differences: a sum could
/// pass the largest number.
pub fn spend(limit: Limit, amount: u256, now: u64) -> Limit {
    let ended = now - limit.window_start >= limit.window_seconds;
    let (spent, window_start) = if ended {
        (0, now)
    } else {
        (limit.spent_in_window, limit.window_start)
    };
    assert(amount <= limit.max_per_window - spent, 'Treasury: exceeds limit');
    Limit { spent_in_window: spent + amount, window_start, ..limit }
}

#[starknet::component]
pub mod LimitsComponent {
    use starknet::account::Call;
    use starknet::storage::{Map, StorageMapReadAccess, StorageMapWriteAccess, StoragePointerReadAccess};
    use starknet::{ContractAddress, get_block_timestamp};
    use crate::interface::{ILimits, LimitTerms};
    use crate::protocol::assert_self;
    use crate::signers::SignersComponent;
    use super::{Limit, spend, transfer_amount};

    #[storage]
    struct Storage {
        limits: Map<ContractAddress, Limit>,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    pub enum Event {
        LimitSet: LimitSet,
        LimitRemoved: LimitRemoved,
    }

    #[derive(Drop, starknet::Event)]
    pub struct LimitSet {
        #[key]
        pub token: ContractAddress,
        pub threshold: u32,
        pub max_per_window: u256,
        pub window_seconds: u64,
    }

    #[derive(Drop, starknet::Event)]
    pub struct LimitRemoved {
        #[key]
        pub token: ContractAddress,
    }

    #[embeddable_as(LimitsImpl)]
    impl Limits<
        TContractState,
        +HasComponent<TContractState>,
        impl Signers: SignersComponent::HasComponent<TContractState>,
        +Drop<TContractState>
    > of ILimits<ComponentState<TContractState>> {
        fn set_limit(ref self: ComponentState<TContractState>, terms: LimitTerms) {
            assert_self();
            self.put(terms);
        }

        fn remove_limit(ref self: ComponentState<TContractState>, token: ContractAddress) {
            assert_self();
            let nothing = Limit {
                threshold: 0, max_per_window: 0, window_seconds: 0, spent_in_window: 0, window_start: 0
            };
            self.limits.write(token, nothing);
            self.emit(LimitRemoved { token });
        }

        fn get_limit(
            self: @ComponentState<TContractState>, token: ContractAddress
        ) -> (u32, u256, u64, u256, u64) {
            let limit = self.limits.read(token);
            (limit.threshold, limit.max_per_window, limit.window_seconds, limit.spent_in_window, limit.window_start)
        }
    }

    #[generate_trait]
    pub impl InternalImpl<
        TContractState,
        +HasComponent<TContractState>,
        impl Signers: SignersComponent::HasComponent<TContractState>,
        +Drop<TContractState>
    > of InternalTrait<TContractState> {
        fn put(ref self: ComponentState<TContractState>, terms: LimitTerms) {
            let LimitTerms { token, threshold, max_per_window, window_seconds } = terms;
            let full = get_dep_component!(@self, Signers).threshold.read();
            assert(threshold != 0 && threshold < full, 'Treasury: invalid limit');
            assert(token.is_non_zero() && max_per_window != 0 && window_seconds != 0, 'Treasury: invalid limit');
            let window_start = get_block_timestamp();
            let limit = Limit { threshold, max_per_window, window_seconds, spent_in_window: 0, window_start };
            self.limits.write(token, limit);
            self.emit(LimitSet { token, threshold, max_per_window, window_seconds });
        }

        /// For fewer approvals than the threshold. Every call is a transfer of a limited token, counted in order, so
        /// that the calls of one execution add up. Without calls there is nothing that a limit could allow.
        fn charge(ref self: ComponentState<TContractState>, approvals: u32, mut calls: Span<Call>) {
            assert(!calls.is_empty(), 'Treasury: threshold not reached');
            let now = get_block_timestamp();
            while let Option::Some(call) = calls.pop_front() {
                let limit = self.limits.read(*call.to);
                let limited = limit.window_seconds != 0 && *call.selector == selector!("transfer");
                assert(limited && approvals >= limit.threshold, 'Treasury: threshold not reached');
                self.limits.write(*call.to, spend(limit, transfer_amount(call), now));
            };
        }
    }
}
