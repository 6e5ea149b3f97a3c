//! Keys that sign in the owner's place: for a while, a number of times, for some entrypoints.

/// What a session may call on no contract at all, whatever its list says: the doors of this account, and those of
/// others like it that would take this account for their owner.
pub fn is_owner_entrypoint(selector: felt252) -> bool {
    selector == selector!("upgrade")
        || selector == selector!("add_or_update_session_key")
        || selector == selector!("revoke_session_key")
        || selector == selector!("set_spending_policy")
        || selector == selector!("remove_spending_policy")
        || selector == selector!("__execute__")
        || selector == selector!("execute_from_outside_v2")
        || selector == selector!("set_public_key")
}

#[starknet::component]
pub mod SessionsComponent {
    use starknet::account::Call;
    use starknet::storage::{Map, StorageMapReadAccess, StorageMapWriteAccess, StoragePointerReadAccess};
    use starknet::{get_block_timestamp, get_contract_address};
    use crate::interface::ISessions;
    use crate::owner::OwnerComponent;
    use crate::protocol::assert_self;
    use crate::signatures::SessionSignature;
    use super::is_owner_entrypoint;

    /// `valid_until` is zero for a key that is not registered, and for no other.
    #[derive(Copy, Drop, starknet::Store)]
    struct Session {
        valid_until: u64,
        max_calls: u32,
        calls_used: u32,
        allowed_entrypoints_len: u32,
    }

    #[storage]
    struct Storage {
        sessions: Map<felt252, Session>,
        /// By session key and index, to be read.
        session_entrypoints: Map<(felt252, u32), felt252>,
        /// By session key, epoch and selector, to be checked. A new list starts an epoch, so nothing of the old one
        /// lingers.
        session_allowed: Map<(felt252, u32, felt252), bool>,
        session_epochs: Map<felt252, u32>,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    pub enum Event {
        SessionKeyAdded: SessionKeyAdded,
        SessionKeyRevoked: SessionKeyRevoked,
    }

    #[derive(Drop, starknet::Event)]
    pub struct SessionKeyAdded {
        #[key]
        pub session_key: felt252,
        pub valid_until: u64,
        pub max_calls: u32,
    }

    #[derive(Drop, starknet::Event)]
    pub struct SessionKeyRevoked {
        #[key]
        pub session_key: felt252,
    }

    #[embeddable_as(SessionsImpl)]
    impl Sessions<
        TContractState,
        +HasComponent<TContractState>,
        impl Owner: OwnerComponent::HasComponent<TContractState>,
        +Drop<TContractState>
    > of ISessions<ComponentState<TContractState>> {
        /// Zero is nobody's key. The owner's is no session's: what it signs within limits (`key, r, s, valid_until`)
        /// could be sent without them (`r, s`).
        fn add_or_update_session_key(
            ref self: ComponentState<TContractState>,
            session_key: felt252,
            valid_until: u64,
            max_calls: u32,
            allowed_entrypoints: Array<felt252>
        ) {
            assert_self();
            let owner = get_dep_component!(@self, Owner).public_key.read();
            assert(session_key != 0 && session_key != owner, 'Session: invalid key');
            assert(get_block_timestamp() < valid_until, 'Session: expired');
            self.allow(session_key, allowed_entrypoints.span());
            let allowed_entrypoints_len = allowed_entrypoints.len();
            let session = Session { valid_until, max_calls, calls_used: 0, allowed_entrypoints_len };
            self.sessions.write(session_key, session);
            self.emit(SessionKeyAdded { session_key, valid_until, max_calls });
        }

        fn revoke_session_key(ref self: ComponentState<TContractState>, session_key: felt252) {
            assert_self();
            let nothing = Session { valid_until: 0, max_calls: 0, calls_used: 0, allowed_entrypoints_len: 0 };
            self.sessions.write(session_key, nothing);
            self.emit(SessionKeyRevoked { session_key });
        }

        fn get_session_data(self: @ComponentState<TContractState>, session_key: felt252) -> (u64, u32, u32, u32) {
            let session = self.sessions.read(session_key);
            (session.valid_until, session.max_calls, session.calls_used, session.allowed_entrypoints_len)
        }

        fn get_session_allowed_entrypoint_at(
            self: @ComponentState<TContractState>, session_key: felt252, index: u32
        ) -> felt252 {
            assert(index < self.sessions.read(session_key).allowed_entrypoints_len, 'Index out of bounds');
            self.session_entrypoints.read((session_key, index))
        }
    }

    #[generate_trait]
    pub impl InternalImpl<TContractState, +HasComponent<TContractState>> of InternalTrait<TContractState> {
        fn is_registered(self: @ComponentState<TContractState>, key: felt252) -> bool {
            self.sessions.read(key).valid_until != 0
        }

        /// Everything about a session's right to make these calls, but for its signature. `valid_until` stands in the
        /// signature so that what was signed for one registration of a key is not good for the next.
        fn assert_session(self: @ComponentState<TContractState>, signature: @SessionSignature, calls: Span<Call>) {
            let key = *signature.session_key;
            let session = self.sessions.read(key);
            let registered = session.valid_until != 0 && session.valid_until == *signature.valid_until;
            assert(registered, 'Session: not registered');
            assert(get_block_timestamp() < session.valid_until, 'Session: expired');
            assert(session.calls_used < session.max_calls, 'Session: no calls left');
            self.assert_allowed(key, session.allowed_entrypoints_len == 0, calls);
        }

        /// One signed execution is one call used, however many calls it bundles, and also when it bundles none.
        fn count_execution(ref self: ComponentState<TContractState>, key: felt252) {
            let session = self.sessions.read(key);
            self.sessions.write(key, Session { calls_used: session.calls_used + 1, ..session });
        }
    }

    #[generate_trait]
    impl PrivateImpl<TContractState, +HasComponent<TContractState>> of PrivateTrait<TContractState> {
        fn allow(ref self: ComponentState<TContractState>, key: felt252, mut entrypoints: Span<felt252>) {
            let epoch = self.session_epochs.read(key) + 1;
            self.session_epochs.write(key, epoch);
            let mut index = 0;
            while let Option::Some(entrypoint) = entrypoints.pop_front() {
                self.session_entrypoints.write((key, index), *entrypoint);
                self.session_allowed.write((key, epoch, *entrypoint), true);
                index += 1;
            };
        }

        /// Each call by itself, so that none hides among others. The account itself is closed to sessions altogether:
        /// through it a session could give itself rights.
        fn assert_allowed(
            self: @ComponentState<TContractState>, key: felt252, every_entrypoint: bool, mut calls: Span<Call>
        ) {
            let account = get_contract_address();
            let epoch = self.session_epochs.read(key);
            while let Option::Some(call) = calls.pop_front() {
                let selector = *call.selector;
                let owners = *call.to == account || is_owner_entrypoint(selector);
                assert(!owners, 'Session: entrypoint not allowed');
                let listed = every_entrypoint || self.session_allowed.read((key, epoch, selector));
                assert(listed, 'Session: entrypoint not allowed');
            };
        }
    }
}
