//! How much of a token a session may give away: by one call, and within a window of time.
use starknet::ContractAddress;
use starknet::account::Call;

/// By session key and token. `window_seconds` is zero where there is no policy, and nowhere else.
#[derive(Copy, Drop, starknet::Store)]
pub struct Policy {
    pub max_per_call: u256,
    pub max_per_window: u256,
    pub window_seconds: u64,
    pub spent_in_window: u256,
    pub window_start: u64,
}

/// What gives the account's tokens away, or the right to take them. A policy knows no other entrypoint, so a token that
/// has more of them (`burn`, `permit`, camelCase of its own) needs a session with a list of what it may call.
/// Answers where the amount stands in the calldata.
pub fn amount_index(call: @Call, account: ContractAddress) -> Option<u32> {
    let selector = *call.selector;
    if selector == selector!("transfer")
        || selector == selector!("approve")
        || selector == selector!("increase_allowance")
        || selector == selector!("increaseAllowance") {
        return Option::Some(1);
    }
    // Some tokens ask for no allowance when the sender is the caller: then this is `transfer` by another name. What the
    // account takes from somebody else is not its own to spend.
    let of_account = !(*call.calldata).is_empty() && *(*call.calldata).at(0) == account.into();
    if of_account && (selector == selector!("transfer_from") || selector == selector!("transferFrom")) {
        return Option::Some(2);
    }
    Option::None
}

/// The amount must be the last of the calldata, in both halves: what cannot be measured is not let through.
pub fn amount_at(calldata: Span<felt252>, index: u32) -> u256 {
    assert(calldata.len() == index + 2, 'Spending: bad calldata');
    let low: u128 = (*calldata.at(index)).try_into().expect('Spending: bad calldata');
    let high: u128 = (*calldata.at(index + 1)).try_into().expect('Spending: bad calldata');
    u256 { low, high }
}

/// A window opens with the first spending after the last one ended, not at fixed hours. It ends at the second that is
/// `window_seconds` after its start. Both comparisons are of differences: a sum could pass the largest number.
pub fn spend(policy: Policy, amount: u256, now: u64) -> Policy {
    assert(amount <= policy.max_per_call, 'Spending: exceeds per-call');
    let ended = now - policy.window_start >= policy.window_seconds;
    let (spent, window_start) = if ended {
        (0, now)
    } else {
        (policy.spent_in_window, policy.window_start)
    };
    assert(amount <= policy.max_per_window - spent, 'Spending: exceeds window limit');
    Policy { spent_in_window: spent + amount, window_start, ..policy }
}

#[starknet::component]
pub mod PoliciesComponent {
    use starknet::account::Call;
    use starknet::storage::{Map, StorageMapReadAccess, StorageMapWriteAccess};
    use starknet::{ContractAddress, get_block_timestamp, get_contract_address};
    use crate::interface::ISpendingPolicies;
    use crate::protocol::assert_self;
    use super::{Policy, amount_at, amount_index, spend};

    #[storage]
    struct Storage {
        spending_policies: Map<(felt252, ContractAddress), Policy>,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    pub enum Event {
        SpendingPolicySet: SpendingPolicySet,
        SpendingPolicyRemoved: SpendingPolicyRemoved,
    }

    #[derive(Drop, starknet::Event)]
    pub struct SpendingPolicySet {
        #[key]
        pub session_key: felt252,
        #[key]
        pub token: ContractAddress,
        pub max_per_call: u256,
        pub max_per_window: u256,
        pub window_seconds: u64,
    }

    #[derive(Drop, starknet::Event)]
    pub struct SpendingPolicyRemoved {
        #[key]
        pub session_key: felt252,
        #[key]
        pub token: ContractAddress,
    }

    #[embeddable_as(PoliciesImpl)]
    impl Policies<TContractState, +HasComponent<TContractState>> of ISpendingPolicies<ComponentState<TContractState>> {
        /// A policy stands by itself: it can be set before its session is added, so that no moment is without it, and
        /// it outlives the session, so that a key that is added again is bound by it until the owner removes it.
        fn set_spending_policy(
            ref self: ComponentState<TContractState>,
            session_key: felt252,
            token: ContractAddress,
            max_per_call: u256,
            max_per_window: u256,
            window_seconds: u64
        ) {
            assert_self();
            assert(session_key != 0, 'Session: invalid key');
            assert(window_seconds > 0, 'Spending: invalid window');
            let window_start = get_block_timestamp();
            let policy = Policy { max_per_call, max_per_window, window_seconds, spent_in_window: 0, window_start };
            self.spending_policies.write((session_key, token), policy);
            self.emit(SpendingPolicySet { session_key, token, max_per_call, max_per_window, window_seconds });
        }

        fn remove_spending_policy(
            ref self: ComponentState<TContractState>, session_key: felt252, token: ContractAddress
        ) {
            assert_self();
            let nothing = Policy {
                max_per_call: 0, max_per_window: 0, window_seconds: 0, spent_in_window: 0, window_start: 0
            };
            self.spending_policies.write((session_key, token), nothing);
            self.emit(SpendingPolicyRemoved { session_key, token });
        }

        fn get_spending_policy(
            self: @ComponentState<TContractState>, session_key: felt252, token: ContractAddress
        ) -> (u256, u256, u64, u256, u64) {
            let policy = self.spending_policies.read((session_key, token));
            (
                policy.max_per_call,
                policy.max_per_window,
                policy.window_seconds,
                policy.spent_in_window,
                policy.window_start
            )
        }
    }

    #[generate_trait]
    pub impl InternalImpl<TContractState, +HasComponent<TContractState>> of InternalTrait<TContractState> {
        /// Counts every spending call against its token's policy, in order, so that the calls of one execution add up.
        fn count_spending(ref self: ComponentState<TContractState>, session_key: felt252, mut calls: Span<Call>) {
            let account = get_contract_address();
            let now = get_block_timestamp();
            while let Option::Some(call) = calls.pop_front() {
                if let Option::Some(index) = amount_index(call, account) {
                    let policy = self.spending_policies.read((session_key, *call.to));
                    if policy.window_seconds != 0 {
                        let spent = spend(policy, amount_at(*call.calldata, index), now);
                        self.spending_policies.write((session_key, *call.to), spent);
                    }
                }
            };
        }
    }
}
