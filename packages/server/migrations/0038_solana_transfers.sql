-- USDC that wallets burn on Starknet and the bridge mints on Solana.
create table solana_transfers (
  id text primary key check (id like 'slt\_%'),
  organization_id text not null,
  environment text not null,
  wallet_id text not null references wallets (id),
  wallet_address text not null,
  -- Of the outside execution: a wallet executes each once.
  nonce text not null,
  recipient text not null,
  amount bigint not null,
  max_fee bigint not null check (max_fee > 0 and max_fee < amount),
  fast boolean not null,
  -- FAILED: nothing was burned. STUCK: burned, and not minted in time.
  status text not null default 'PENDING'
    check (status in ('PENDING', 'BRIDGING', 'ATTESTED', 'SUCCESS', 'FAILED', 'STUCK')),
  reason text,
  relay_id text not null unique references relays (id) deferrable initially deferred,
  transaction_hash text,
  receive_hash text,
  -- What is known of the burn and its attestation.
  facts jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (organization_id, environment) references environments (organization_id, environment),
  unique (wallet_id, nonce),
  check (status <> 'SUCCESS' or receive_hash is not null),
  check ((status in ('FAILED', 'STUCK')) = (reason is not null))
);
-- The list of a wallet, newest first.
create index solana_transfers_wallet on solana_transfers (wallet_id, created_at desc, id desc);
-- Those under way, and those that wait for the operator.
create index solana_transfers_open on solana_transfers (id) where status in ('PENDING', 'BRIDGING', 'ATTESTED', 'STUCK');
