-- The wallets of an environment, newest first, and by the beginning of the user's name.
create index wallets_newest on wallets (organization_id, environment, created_at desc, id desc);
create index wallets_user_prefix on wallets (organization_id, environment, external_user_id collate "C");

-- The transactions of an environment, newest first; those that failed or are under way, and purchases, are few among them.
create index transactions_newest on transactions (organization_id, environment, created_at desc, id desc)
  where transaction_hash is not null;
create index transactions_not_successful on transactions (organization_id, environment, status, created_at desc, id desc)
  where status <> 'SUCCESS' and transaction_hash is not null;
create index transactions_purchases_newest on transactions (organization_id, environment, created_at desc, id desc)
  where type = 'SKU_PURCHASE';

-- Gas that was spent for an organisation, by time.
create index relays_gas on relays (organization_id, environment, created_at) include (fee) where organization_id is not null;

-- Requests of the last days, for the organisation that made them. Written in batches; a crash may lose those of the last second. There is
-- no foreign key: an organisation is never deleted, and checking it would lock its row for every batch.
create table request_log (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  organization_id text not null,
  environment text not null,
  request_id text not null,
  method text not null,
  -- The pattern, never the address: addresses hold gift codes and users.
  path text not null,
  status smallint not null,
  duration_ms real not null,
  error_code text,
  -- A key or a member.
  actor text not null,
  ignored_fields text[]
);
-- An environment's requests, newest first, and one by its id.
create index request_log_newest on request_log (organization_id, environment, at desc, id desc);
create index request_log_request on request_log (organization_id, environment, request_id);
-- Those that are too old. Rows are added in the order of time, so a summary of pages is enough.
create index request_log_age on request_log using brin (at) with (pages_per_range = 32, autosummarize = on);
