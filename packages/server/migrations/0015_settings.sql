-- Who changed what in an environment. Secrets never stand in it.
create table audit_log (
  id text collate "C" primary key,
  organization_id text not null,
  environment text not null,
  action text not null check (char_length(action) between 1 and 100),
  target text check (char_length(target) <= 200),
  -- The key that it was done with, or operator.
  actor text not null,
  changes jsonb not null,
  created_at timestamptz not null default now()
);
create index audit_log_list on audit_log (organization_id, environment, id);
create function audit_log_refuse() returns trigger language plpgsql as $$
begin
  raise exception 'The audit log refuses this %.', tg_op using errcode = 'integrity_constraint_violation';
end $$;
create trigger audit_log_permanent before update or delete or truncate on audit_log
  for each statement execute function audit_log_refuse();

-- Services that an environment of an organisation sells beside the deployment's. Where the deployment has one with the same id, this one
-- is not offered.
create table own_skus (
  organization_id text not null,
  environment text not null,
  id text not null check (char_length(id) between 1 and 31),
  provider_id text not null,
  name text not null,
  description text,
  category text not null,
  reference_pattern text not null check (char_length(reference_pattern) <= 256),
  reference_label text not null,
  amount_pattern text not null check (char_length(amount_pattern) <= 256),
  amount_label text not null,
  fixed_amount numeric check (fixed_amount > 0),
  currency text not null,
  can_check_reference boolean not null,
  logo_url text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organization_id, environment, id),
  foreign key (organization_id, environment) references environments (organization_id, environment)
);

-- Services that an environment does not offer, its own or the deployment's.
create table hidden_skus (
  organization_id text not null,
  environment text not null,
  sku_id text not null,
  primary key (organization_id, environment, sku_id),
  foreign key (organization_id, environment) references environments (organization_id, environment)
);
