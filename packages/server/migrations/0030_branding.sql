-- How an environment of an organisation shows itself to recipients of its gifts. No row: the defaults.
create table branding (
  organization_id text not null,
  environment text not null,
  -- In place of the organisation's name.
  name text check (char_length(name) between 1 and 80),
  color text check (color ~ '^#[0-9a-f]{6}$'),
  logo bytea check (octet_length(logo) between 1 and 131072),
  logo_type text check (logo_type in ('image/png', 'image/jpeg', 'image/webp')),
  -- SHA-256 of the bytes: a part of the logo's address.
  logo_hash text check (logo_hash ~ '^[0-9a-f]{64}$'),
  updated_at timestamptz not null default now(),
  primary key (organization_id, environment),
  foreign key (organization_id, environment) references environments (organization_id, environment),
  check ((logo is null) = (logo_type is null) and (logo is null) = (logo_hash is null))
);
