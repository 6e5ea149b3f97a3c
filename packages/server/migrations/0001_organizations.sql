-- An organisation owns everything. Each of its two environments has its own keys, settings, credits and resources.
create table organizations (
  id text primary key,
  name text not null check (char_length(name) between 1 and 200),
  created_at timestamptz not null default now()
);

create table environments (
  organization_id text not null references organizations (id),
  environment text not null check (environment in ('production', 'development')),
  -- Where the keys of user tokens are found; the word 'sandbox' means the development identity provider.
  jwks_url text check (char_length(jwks_url) <= 2000),
  jwt_issuer text check (char_length(jwt_issuer) <= 2000),
  jwt_audience text check (char_length(jwt_audience) <= 2000),
  jwt_user_claim text not null default 'sub' check (char_length(jwt_user_claim) between 1 and 200),
  gifts_need_secret_key boolean not null default false,
  notification_email text check (char_length(notification_email) <= 254),
  updated_at timestamptz not null default now(),
  primary key (organization_id, environment)
);

-- A public key is kept as it is; of a secret key only its hash, its prefix and its last four characters.
create table api_keys (
  id text primary key,
  organization_id text not null,
  environment text not null,
  kind text not null check (kind in ('public', 'secret')),
  public_key text,
  secret_hash bytea,
  prefix text not null,
  last_four text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  foreign key (organization_id, environment) references environments (organization_id, environment),
  check ((kind = 'public') = (public_key is not null)),
  check ((kind = 'secret') = (secret_hash is not null))
);
-- Authentication looks a key up by its value, on every request that finds no fresh answer in memory.
create unique index api_keys_public_key on api_keys (public_key) where kind = 'public';
create unique index api_keys_secret_hash on api_keys (secret_hash) where kind = 'secret';
-- The keys of an environment, for the operator's list.
create index api_keys_environment on api_keys (organization_id, environment, created_at);

-- Replicas keep organisations, keys and settings in memory and forget them when told of a change.
create function notify_credentials_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('svc_credentials', '');
  return null;
end $$;
create trigger api_keys_changed after insert or update or delete on api_keys
  for each statement execute function notify_credentials_changed();
create trigger organizations_changed after insert or update or delete on organizations
  for each statement execute function notify_credentials_changed();
create trigger environments_changed after insert or update or delete on environments
  for each statement execute function notify_credentials_changed();

-- Makes sure of one development organisation, however many replicas start at once.
create table development_organization (
  only_one boolean primary key default true check (only_one),
  organization_id text not null references organizations (id)
);
