-- Serve the explorer: accounts that deployed themselves, and failed transactions, which leave no state or event to find them by.
create index transactions_deploying on sandbox.transactions (version) where contract_address is not null;
create index transactions_reverted on sandbox.transactions (version) where execution_status = 'REVERTED';
