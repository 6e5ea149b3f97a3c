-- How far each chain has been followed. Whoever follows moves it on from where it stood, so two never count a block twice.
create table followed_chains (
  chain_id text primary key,
  block_number bigint not null check (block_number >= 0),
  block_hash text not null,
  -- Since when the chain has ended below that block; null while it does not.
  behind_since timestamptz,
  -- Since when it has ended below the block of a relay.
  relays_above_since timestamptz
);

-- The last blocks that were followed, to find out where a reorganisation began. Empty blocks may be missing.
create table followed_blocks (
  chain_id text not null references followed_chains (chain_id),
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

-- Received transfers whose block is no longer there. They come back with another block, or fail after a while.
create table unconfirmed_receives (
  transaction_id text primary key references transactions (id),
  chain_id text not null,
  -- Where it stood.
  block_number bigint not null,
  since timestamptz not null
);
-- Those that the following has passed again, the longest waiting first.
create index unconfirmed_receives_waiting on unconfirmed_receives (chain_id, since);
