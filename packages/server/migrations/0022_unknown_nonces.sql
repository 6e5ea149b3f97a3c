-- Nonces of our accounts that were used by a transaction which the database does not know, such as after a restore. While the account
-- that pays has open ones it pays nothing.
create table unknown_nonces (
  chain_id text not null,
  account text not null,
  nonce bigint not null check (nonce >= 0),
  -- Null until it was found on the chain.
  hash text,
  -- Holds the payments of the transaction that were imported.
  relay_id text references relays (id),
  -- Its transfers that belong to nothing known.
  unmatched jsonb not null default '[]',
  resolution text check (resolution in ('IMPORTED', 'ACCEPTED')),
  -- Why it was accepted.
  note text,
  found_at timestamptz not null default now(),
  resolved_at timestamptz,
  primary key (chain_id, account, nonce),
  check ((resolution is null) = (resolved_at is null))
);
-- Whether an account may pay, and what is left to reconcile.
create index unknown_nonces_open on unknown_nonces (chain_id, account, nonce) where resolution is null;
