-- Where an environment of an organisation wants its events sent.
create table webhooks (
  id text collate "C" primary key,
  organization_id text not null,
  environment text not null,
  url text not null check (char_length(url) <= 2048),
  description text check (char_length(description) <= 200),
  -- Null: all.
  event_types text[],
  secret text not null,
  disabled_reason text check (disabled_reason in ('BY_HAND', 'GONE', 'FAILING')),
  -- Since when nothing was delivered although it was tried; null after a success.
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  foreign key (organization_id, environment) references environments (organization_id, environment)
);
create index webhooks_list on webhooks (organization_id, environment, id) where deleted_at is null;

-- Secrets that were replaced and sign beside the new one for a while.
create table webhook_older_secrets (
  id bigint generated always as identity primary key,
  webhook_id text collate "C" not null references webhooks (id) on delete cascade,
  secret text not null,
  ends_at timestamptz not null
);
create index webhook_older_secrets_list on webhook_older_secrets (webhook_id, id);

-- What happened. A subject has one event of a type, so that a change that is stored twice is told once.
create table events (
  id text collate "C" primary key,
  organization_id text not null,
  environment text not null,
  type text not null,
  subject text not null,
  -- As it is sent.
  data jsonb not null,
  created_at timestamptz not null default now(),
  unique (subject, type)
);
create index events_list on events (organization_id, environment, id);
create index events_type on events (organization_id, environment, type, id);
create index events_time on events (organization_id, environment, created_at, id);
-- What is old enough to be forgotten.
create index events_old on events (created_at);

-- An event on its way to one webhook. A replay is a delivery of its own.
create table webhook_deliveries (
  id text collate "C" primary key,
  webhook_id text not null references webhooks (id),
  event_id text not null references events (id),
  state text not null default 'WAITING' check (state in ('WAITING', 'DELIVERED', 'FAILED')),
  attempts integer not null default 0 check (attempts >= 0),
  next_attempt_at timestamptz default now(),
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  constraint webhook_deliveries_waiting check ((state = 'WAITING') = (next_attempt_at is not null)),
  constraint webhook_deliveries_ended check ((state = 'WAITING') = (ended_at is null))
);
-- What is due at a webhook, the longest due first.
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, id) where state = 'WAITING';
create index webhook_deliveries_list on webhook_deliveries (webhook_id, id);
-- Few among many, and the first that somebody looks for.
create index webhook_deliveries_failed on webhook_deliveries (webhook_id, id) where state = 'FAILED';
create index webhook_deliveries_event on webhook_deliveries (event_id, webhook_id);
-- What is old enough to be forgotten.
create index webhook_deliveries_old on webhook_deliveries (ended_at) where state <> 'WAITING';

create table webhook_attempts (
  delivery_id text collate "C" not null references webhook_deliveries (id) on delete cascade,
  number integer not null check (number >= 1),
  at timestamptz not null,
  duration_ms integer not null check (duration_ms >= 0),
  status integer,
  error text check (char_length(error) <= 500),
  response text check (char_length(response) <= 1000),
  primary key (delivery_id, number)
);
