-- Encrypted private keys that were replaced, with what was known of their passkey. Kept for 7 days: a stolen user token can
-- replace the wallet's own, but not delete these.
create table replaced_encryptions (
  id text collate "C" primary key,
  wallet_id text not null references wallets (id),
  encrypted_private_key text not null,
  encrypted_private_key_backup text,
  auth_method text,
  credential_id text,
  prf_supported boolean,
  device_type text,
  replaced_by text not null check (replaced_by in ('user token', 'secret key')),
  replaced_at timestamptz not null default now()
);
-- The history of a wallet, newest first, and how many it has.
create index replaced_encryptions_wallet on replaced_encryptions (wallet_id, replaced_at desc, id desc);
-- What is to be deleted, oldest first.
create index replaced_encryptions_age on replaced_encryptions (replaced_at);
