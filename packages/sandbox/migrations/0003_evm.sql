-- What happened on the EVM chains of the sandbox, one block a row. The engine keeps its state in memory and comes to it again
-- by taking these rows in order, so rows are only ever added. Position is the number of the block.
create table sandbox.evm_log (
  chain text not null check (chain in ('BASE', 'ARBITRUM', 'OPTIMISM', 'ROOTSTOCK', 'SCROLL', 'WORLDCHAIN')),
  position bigint not null check (position > 0),
  block_time bigint not null check (block_time > 0),
  raw_transaction bytea,
  grant_address text check (grant_address ~ '^0x[0-9a-f]{40}$'),
  grant_token text,
  grant_amount numeric(78, 0) check (grant_amount > 0),
  -- Also serves the only query: the rows of a chain from a position on.
  primary key (chain, position),
  -- A signed transaction as it was sent in, or a gift of the faucet.
  check (
    (raw_transaction is not null and num_nonnulls(grant_address, grant_token, grant_amount) = 0)
    or (raw_transaction is null and num_nulls(grant_address, grant_token, grant_amount) = 0)
  )
);
