-- The service's own accounts, which pay for others. Nonces are handed out here, under the lock of the row.
create table relayer_accounts (
  chain_id text not null,
  address text not null,
  -- Null until it was read from the chain.
  next_nonce bigint check (next_nonce >= 0),
  -- In FRI, as last seen.
  balance numeric(78),
  balance_read_at timestamptz,
  primary key (chain_id, address)
);

-- What is sent for others, once each. A relay is stored with its signed transaction before anything is sent.
create table relays (
  id text primary key,
  environment text not null check (environment in ('production', 'development')),
  chain_id text not null,
  kind text not null,
  -- What must not happen twice: of an outside execution its wallet and nonce.
  purpose text not null,
  -- Tells the same execution sent again from another one with the same nonce.
  message_hash text not null,
  wallet text not null,
  -- After this the wallet refuses the execution.
  not_after timestamptz not null,
  -- Of our own accounts; null where a paymaster sends.
  account text,
  nonce bigint,
  -- What is executed, to be signed again when the fee has to be raised; for a paymaster, its request.
  content jsonb not null,
  state text not null default 'STORED' check (state in ('STORED', 'SENT', 'SUCCEEDED', 'REVERTED', 'VOIDED')),
  -- The transaction on the chain, or the one that was sent last.
  hash text,
  block_number bigint,
  block_hash text,
  revert_reason text,
  -- Since when it is the first of its account that the chain has not executed: one that stays so is stuck.
  first_since timestamptz,
  -- Since when its nonce is used although none of its transactions is known.
  missing_since timestamptz,
  -- Since when nodes refuse it for a reason that trying again does not change.
  refused_since timestamptz,
  -- When it was last asked whether somebody else executed it. Set while it is under way: somebody did, in a transaction that
  -- cannot be told.
  looked_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (chain_id, purpose),
  unique (chain_id, account, nonce),
  check ((account is null) = (nonce is null))
);
-- What an account has under way, in the order of nonces.
create index relays_open on relays (chain_id, account, nonce) where state in ('STORED', 'SENT');
-- What counts as not executed, while somebody else may still execute it.
create index relays_not_executed on relays (chain_id, not_after) where state in ('REVERTED', 'VOIDED') and account is not null;
-- A transaction that a paymaster made; of our own every attempt's hash is found among the attempts.
create index relays_paid_hash on relays (chain_id, hash) where account is null;
-- What stood in blocks that are no longer there.
create index relays_block on relays (chain_id, block_number) where block_number is not null;

-- Every transaction that was signed for a relay. All of a relay have its nonce, so the chain takes one at most. OTHER is what
-- somebody else signed, and what executed the relay.
create table relay_attempts (
  chain_id text not null,
  hash text not null,
  relay_id text not null references relays (id),
  kind text not null check (kind in ('FIRST', 'BUMP', 'FILLER', 'OTHER')),
  -- As it is sent, byte for byte; empty where we do not send it.
  transaction text not null,
  -- When a node first said that it has it.
  taken_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (chain_id, hash)
);
create index relay_attempts_relay on relay_attempts (relay_id, created_at);
