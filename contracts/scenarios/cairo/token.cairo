// The token of the scenarios: as much of ERC-20 as they use, with the sandbox's words and events.
use starknet::ContractAddress;

#[starknet::interface]
trait IToken<T> {
    fn balance_of(self: @T, account: ContractAddress) -> u256;
    fn allowance(self: @T, owner: ContractAddress, spender: ContractAddress) -> u256;
    fn transfer(ref self: T, recipient: ContractAddress, amount: u256) -> bool;
    fn transfer_from(ref self: T, sender: ContractAddress, recipient: ContractAddress, amount: u256) -> bool;
    fn transferFrom(ref self: T, sender: ContractAddress, recipient: ContractAddress, amount: u256) -> bool;
    fn approve(ref self: T, spender: ContractAddress, amount: u256) -> bool;
    fn increase_allowance(ref self: T, spender: ContractAddress, added_value: u256) -> bool;
    fn increaseAllowance(ref self: T, spender: ContractAddress, added_value: u256) -> bool;
    fn decrease_allowance(ref self: T, spender: ContractAddress, subtracted_value: u256) -> bool;
}

#[starknet::contract]
pub mod Token {
    use starknet::storage::{Map, StorageMapReadAccess, StorageMapWriteAccess};
    use starknet::{ContractAddress, get_caller_address};

    #[storage]
    struct Storage {
        balances: Map<ContractAddress, u256>,
        allowances: Map<(ContractAddress, ContractAddress), u256>,
    }

    #[event]
    #[derive(Drop, starknet::Event)]
    enum Event {
        Transfer: Transfer,
        Approval: Approval,
    }

    #[derive(Drop, starknet::Event)]
    struct Transfer {
        #[key]
        from: ContractAddress,
        #[key]
        to: ContractAddress,
        value: u256,
    }

    #[derive(Drop, starknet::Event)]
    struct Approval {
        #[key]
        owner: ContractAddress,
        #[key]
        spender: ContractAddress,
        value: u256,
    }

    #[constructor]
    fn constructor(ref self: ContractState, recipient: ContractAddress, supply: u256) {
        self.balances.write(recipient, supply);
    }

    #[abi(embed_v0)]
    impl TokenImpl of super::IToken<ContractState> {
        fn balance_of(self: @ContractState, account: ContractAddress) -> u256 {
            self.balances.read(account)
        }

        fn allowance(self: @ContractState, owner: ContractAddress, spender: ContractAddress) -> u256 {
            self.allowances.read((owner, spender))
        }

        fn transfer(ref self: ContractState, recipient: ContractAddress, amount: u256) -> bool {
            self.move_tokens(get_caller_address(), recipient, amount)
        }

        fn transfer_from(
            ref self: ContractState, sender: ContractAddress, recipient: ContractAddress, amount: u256,
        ) -> bool {
            let spender = get_caller_address();
            let allowance = self.allowances.read((sender, spender));
            assert(allowance >= amount, 'ERC20: insufficient allowance');
            self.allow(sender, spender, allowance - amount);
            self.move_tokens(sender, recipient, amount)
        }

        fn transferFrom(
            ref self: ContractState, sender: ContractAddress, recipient: ContractAddress, amount: u256,
        ) -> bool {
            self.transfer_from(sender, recipient, amount)
        }

        fn approve(ref self: ContractState, spender: ContractAddress, amount: u256) -> bool {
            self.allow(get_caller_address(), spender, amount)
        }

        fn increase_allowance(ref self: ContractState, spender: ContractAddress, added_value: u256) -> bool {
            let owner = get_caller_address();
            self.allow(owner, spender, self.allowances.read((owner, spender)) + added_value)
        }

        fn increaseAllowance(ref self: ContractState, spender: ContractAddress, added_value: u256) -> bool {
            self.increase_allowance(spender, added_value)
        }

        fn decrease_allowance(ref self: ContractState, spender: ContractAddress, subtracted_value: u256) -> bool {
            let owner = get_caller_address();
            self.allow(owner, spender, self.allowances.read((owner, spender)) - subtracted_value)
        }
    }

    #[generate_trait]
    impl Moves of MovesTrait {
        fn move_tokens(ref self: ContractState, from: ContractAddress, to: ContractAddress, value: u256) -> bool {
            let balance = self.balances.read(from);
            assert(balance >= value, 'ERC20: insufficient balance');
            self.balances.write(from, balance - value);
            self.balances.write(to, self.balances.read(to) + value);
            self.emit(Transfer { from, to, value });
            true
        }

        fn allow(ref self: ContractState, owner: ContractAddress, spender: ContractAddress, value: u256) -> bool {
            self.allowances.write((owner, spender), value);
            self.emit(Approval { owner, spender, value });
            true
        }
    }
}
