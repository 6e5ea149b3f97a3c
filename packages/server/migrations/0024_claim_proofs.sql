-- Random secrets of the deployment, made at the first start and shared by all processes. Keys are derived from them.
create table deployment_secrets (
  name text primary key,
  secret bytea not null check (octet_length(secret) >= 32),
  created_at timestamptz not null default now()
);

-- Proofs of work that were used. A proof is valid once, and only until it expires.
create table used_proofs (
  id text primary key check (char_length(id) between 1 and 64),
  expires_at timestamptz not null
);
-- Expired ones are removed by age.
create index used_proofs_expires_at on used_proofs (expires_at);
