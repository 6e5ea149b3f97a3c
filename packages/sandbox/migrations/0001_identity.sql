-- Everything of the sandbox lives in its own schema, so that a production database shows at a glance that it has none.
create schema if not exists sandbox;

-- The key with which the development identity provider signs; shared by all replicas.
create table sandbox.identity_key (
  only_one boolean primary key default true check (only_one),
  private_jwk jsonb not null,
  created_at timestamptz not null default now()
);
