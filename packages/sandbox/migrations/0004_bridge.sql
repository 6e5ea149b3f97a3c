-- The bridge of development: an attestation service for burns on the chain, and a small Solana on which USDC is minted.

-- Settings, and how far the chain has been looked through. Whoever moves a burn on locks this row first: one at a time over
-- all processes, so that nothing is minted twice.
create table sandbox.bridge (
  only_one boolean primary key default true check (only_one),
  -- Versions of the chain are never used twice, so what stands above was not seen yet, after a reorganisation, too.
  seen_version integer not null default 0,
  indexed_seconds integer not null default 2,
  fast_seconds integer not null default 8,
  standard_seconds integer not null default 28800,
  forward_seconds integer not null default 2,
  fast_fee_per_million integer not null default 130,
  -- In the smallest unit of USDC.
  forward_fee bigint not null default 0,
  requests_per_second integer not null default 35
);
insert into sandbox.bridge default values;

-- Counts requests in a second of the chain's time; a row of its own, because the other one is held while burns move on.
create table sandbox.bridge_limit (
  only_one boolean primary key default true check (only_one),
  second bigint not null default 0,
  requests integer not null default 0,
  blocked_until bigint not null default 0
);
insert into sandbox.bridge_limit default values;

create table sandbox.bridge_burns (
  nonce text collate "C" primary key,
  transaction_hash text collate "C" not null,
  -- Which burn of its transaction.
  ordinal integer not null,
  -- Where its transaction stands in the chain; where no transaction has this version, the burn was reorganised away.
  version integer not null,
  -- As it was sent; what the attestation fills in is in the columns below.
  message bytea not null,
  mint_recipient text collate "C" not null,
  fault json,
  -- Seconds of the chain's time, from which forwarding counts, too.
  completed_at bigint,
  fee_executed numeric(78, 0),
  expiration_block bigint,
  forward_state text check (forward_state in ('PENDING', 'CONFIRMED', 'COMPLETE', 'FAILED')),
  -- Serves the question that is asked most: the messages of a transaction.
  unique (transaction_hash, ordinal),
  check (num_nulls(completed_at, fee_executed, expiration_block) in (0, 3)),
  check (forward_state is null or completed_at is not null)
);
-- Serves whoever reads a balance: what is on its way to the account is minted first.
create index bridge_burns_on_their_way on sandbox.bridge_burns (mint_recipient)
  where forward_state is distinct from 'COMPLETE';

-- Token accounts of the sandbox's Solana, all of USDC, in its smallest unit.
create table sandbox.solana_accounts (
  token_account text collate "C" primary key,
  owner text collate "C" not null,
  balance numeric(78, 0) not null check (balance >= 0)
);

create table sandbox.solana_transactions (
  signature text collate "C" primary key,
  -- Minting happens once for each nonce, whoever asks.
  nonce text collate "C" not null unique references sandbox.bridge_burns,
  token_account text collate "C" not null references sandbox.solana_accounts,
  amount numeric(78, 0) not null check (amount > 0),
  slot bigint not null,
  block_time bigint not null
);

-- Faults that were ordered: a number of times, until a time, whichever comes first.
create table sandbox.bridge_faults (
  id integer generated always as identity primary key,
  kind text not null,
  transaction_hash text collate "C",
  request text,
  remaining integer check (remaining >= 0),
  expires_at timestamptz not null,
  -- The chain when it was ordered: only later burns suffer from it.
  after_version integer not null,
  parameters json not null
);
