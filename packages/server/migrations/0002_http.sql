-- One window for each API key: it opens with the first request and lasts a minute. Replicas take blocks of it.
create table rate_windows (
  key_id text primary key references api_keys (id) on delete cascade,
  started_at timestamptz not null,
  used integer not null check (used >= 0),
  granted integer not null check (granted >= 0)
) with (fillfactor = 70);

-- The first answer to a POST with an Idempotency-Key. No answer yet: the request is running until leased_until,
-- after which whoever comes next takes it over.
create table idempotency_keys (
  scope text not null,
  key text not null,
  fingerprint bytea not null,
  owner text not null,
  leased_until timestamptz not null,
  status integer,
  body jsonb,
  created_at timestamptz not null default now(),
  primary key (scope, key),
  check ((status is null) = (body is null))
);
-- Expired keys are removed by age.
create index idempotency_keys_created_at on idempotency_keys (created_at);
