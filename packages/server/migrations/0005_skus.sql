-- The services that can be bought. They come from the catalogue file; one that is no longer in it is retired, not removed,
-- because purchases refer to it.
create table skus (
  id text primary key check (char_length(id) between 1 and 31),
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
  position integer not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  retired_at timestamptz
);
-- The list, in the catalogue's order, whole or by category or by provider.
create index skus_position on skus (position, id) where retired_at is null;
create index skus_category on skus (category, position, id) where retired_at is null;
create index skus_provider on skus (provider_id, position, id) where retired_at is null;

-- What was loaded last, so that a start with the same file has nothing to do.
create table sku_catalogue (
  only_one boolean primary key default true check (only_one),
  checksum text not null,
  loaded_at timestamptz not null default now()
);
