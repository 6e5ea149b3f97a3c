-- The Starknet chain of development. Felts are lowercase hex text without leading zeros, as the node prints them; their
-- order carries no meaning, so they are compared byte by byte.

-- The head of the chain and its settings. Whoever writes locks this row first: one writer at a time over all processes.
create table sandbox.chain (
  only_one boolean primary key default true check (only_one),
  -- The latest sealed block, repeated here because a row locked after a wait must not be joined with an older snapshot.
  number integer not null,
  hash text collate "C" not null,
  timestamp bigint not null,
  sealed_version integer not null,
  -- Grows with every transaction and every reorganisation and is never used twice.
  version integer not null check (version >= sealed_version),
  reorganisations integer not null default 0,
  -- 0: every transaction gets its block at once.
  block_seconds integer not null default 0,
  time_offset_seconds bigint not null default 0,
  l1_after_blocks integer not null,
  -- The block that is being filled, where blocks come at an interval.
  opened_at timestamptz,
  open_timestamp bigint,
  open_transactions integer not null default 0,
  -- How many transactions wait in the mempool, so that nobody looks there in vain.
  queued integer not null default 0,
  -- Until when an order of faults may be in force; null: there is none.
  orders_until timestamptz,
  -- Which contracts block 0 holds: a newer program adds what is missing.
  genesis text not null
);

create table sandbox.blocks (
  number integer primary key,
  hash text collate "C" not null unique,
  parent_hash text collate "C" not null,
  timestamp bigint not null,
  -- The state after its last transaction.
  version integer not null
);

-- Every transaction is a version of the state; a block ends at one.
create table sandbox.transactions (
  version integer primary key,
  hash text collate "C" not null unique,
  block_number integer not null,
  index integer not null,
  -- As it was sent, in the form in which the node shows it.
  transaction json not null,
  execution_status text not null check (execution_status in ('SUCCEEDED', 'REVERTED')),
  revert_reason text,
  actual_fee text not null,
  l1_gas bigint not null,
  l1_data_gas bigint not null,
  l2_gas bigint not null,
  contract_address text,
  unique (block_number, index)
);

create table sandbox.events (
  version integer not null,
  index integer not null,
  from_address text collate "C" not null,
  keys text[] collate "C" not null,
  data text[] not null,
  primary key (version, index)
);
-- Serve getEvents: by contract, and by the accounts that stand in the second and third key of a Transfer.
create index events_of_contract on sandbox.events (from_address, version, index);
create index events_by_second_key on sandbox.events ((keys[2]), version, index);
create index events_by_third_key on sandbox.events ((keys[3]), version, index);

-- What changed with each version: storage under its key, `nonce` and `class` of a contract; under the contract `classes`
-- the compiled hash of each declared class. Reading at a version takes the newest row up to it; a reorganisation
-- deletes what is above.
create table sandbox.state (
  contract text collate "C" not null,
  slot text collate "C" not null,
  version integer not null,
  value text collate "C" not null,
  primary key (contract, slot, version)
);
-- Serves other processes that catch up, state updates of a block, and reorganisations.
create index state_of_version on sandbox.state (version);

-- Declared classes by content; whether one is declared at a block is part of the state.
create table sandbox.classes (
  hash text collate "C" primary key,
  definition json not null
);

-- Transactions that wait for the ones before them.
create table sandbox.mempool (
  hash text collate "C" primary key,
  sender text collate "C" not null,
  nonce bigint not null,
  tip numeric not null,
  price numeric not null,
  transaction json not null,
  definition json,
  unique (sender, nonce)
);

-- Faults that were ordered: a number of times, until a time, whichever comes first.
create table sandbox.faults (
  id integer generated always as identity primary key,
  kind text not null,
  method text,
  remaining integer check (remaining >= 0),
  expires_at timestamptz not null,
  parameters json not null
);
