// A class of accounts that is no treasury: it answers, and says so.
#[starknet::contract]
pub mod OtherAccount {
    #[storage]
    struct Storage {}

    #[external(v0)]
    fn supports_interface(self: @ContractState, interface_id: felt252) -> bool {
        interface_id == 0x3f918d17e5ee77373b56385708f855659a07f75997f365cf87748628532a055
    }
}
