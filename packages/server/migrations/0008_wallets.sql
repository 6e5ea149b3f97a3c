-- Accounts on Starknet that belong to an organisation's users. Felts are hexadecimal, as nodes spell them.
create table wallets (
  id text primary key,
  organization_id text not null,
  environment text not null,
  external_user_id text not null check (char_length(external_user_id) between 1 and 256),
  -- The organisation's second name for the user.
  user_id text,
  api_public_key text not null,
  -- The address as it was given, and its normal form.
  public_key text not null,
  address text not null check (address ~ '^0x[0-9a-f]{64}$'),
  wallet_type text not null check (wallet_type in ('SVC', 'READY')),
  -- As last seen on the chain; at first the one that it is deployed with.
  class_hash text not null,
  owner_key text not null,
  salt text not null,
  constructor_calldata text[] not null,
  -- FAILED: the relay came to nothing, and the user may create the wallet again.
  deployment text not null default 'PENDING' check (deployment in ('PENDING', 'DEPLOYED', 'FAILED')),
  -- What deploys it. The relay is stored in the same transaction, before or after.
  relay_id text references relays (id) deferrable initially deferred,
  -- Null until a paymaster tells it.
  transaction_hash text,
  encrypted_private_key text not null,
  encrypted_private_key_backup text,
  auth_method text,
  credential_id text,
  prf_supported boolean,
  device_type text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (organization_id, environment) references environments (organization_id, environment),
  -- One account is one wallet, whoever asks. Finds wallets by their address, too.
  unique (environment, address)
);
-- The wallets of a user, newest first.
create index wallets_user on wallets (organization_id, environment, external_user_id, created_at desc, id desc);
-- The wallet that waits for a relay's outcome.
create index wallets_relay on wallets (relay_id) where relay_id is not null;
