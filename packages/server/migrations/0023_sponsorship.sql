-- How much gas an environment has its users sponsored with. Null: the deployment's default.
create table sponsorship_settings (
  organization_id text not null,
  environment text not null,
  -- The operator's, in place of the deployment's default. daily_fri is the organisation's own below it.
  max_daily_fri numeric(78) check (max_daily_fri >= 0),
  daily_fri numeric(78) check (daily_fri >= 0),
  user_daily_fri numeric(78) check (user_daily_fri >= 0),
  user_daily_transactions integer check (user_daily_transactions >= 0),
  user_daily_wallets integer check (user_daily_wallets >= 0),
  -- Padded addresses, and selectors; null allows all.
  allowed_contracts text[],
  allowed_entrypoints text[],
  primary key (organization_id, environment),
  foreign key (organization_id, environment) references environments (organization_id, environment)
);

-- Gas of an environment by UTC day: fees that were paid, and the signed bounds of what is under way.
create table sponsored_days (
  organization_id text not null,
  environment text not null,
  day date not null,
  fri numeric(78) not null,
  transactions integer not null,
  wallets integer not null,
  -- When the operator was warned that little is left.
  warned_at timestamptz,
  primary key (organization_id, environment, day)
) with (fillfactor = 50);
-- Those of today, for warnings and metrics.
create index sponsored_days_day on sponsored_days (day);

create table sponsored_user_days (
  organization_id text not null,
  environment text not null,
  external_user_id text not null,
  day date not null,
  fri numeric(78) not null,
  transactions integer not null,
  wallets integer not null,
  -- Transactions that reverted after a good estimate, and how many of them were reported.
  reverts integer not null default 0,
  reported_reverts integer not null default 0,
  slowed_until timestamptz,
  primary key (organization_id, environment, day, external_user_id)
) with (fillfactor = 70);
-- Days that are deleted.
create index sponsored_user_days_day on sponsored_user_days (day);
-- Users to report.
create index sponsored_user_days_reverts on sponsored_user_days (day) where reverts > 0;

alter table relays
  -- Null where the service acts for itself.
  add column organization_id text,
  add column external_user_id text,
  -- What our account paid, in FRI; null until the outcome is known.
  add column fee numeric(78),
  -- What counts on the budget of this day now: the signed bound, then the fee.
  add column budget_day date,
  add column budget_fri numeric(78),
  add column budget_transactions integer,
  -- Whether our own transaction reverted, although a third party's may have executed the relay.
  add column reverted boolean not null default false;
-- Reverts of the last hour, by account.
create index relays_reverted on relays (updated_at) where reverted;
