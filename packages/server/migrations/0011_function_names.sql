-- What functions are called, from the preparation of a call to its execution: a selector does not tell the name that it is
-- the hash of.
create table function_names (
  organization_id text not null references organizations (id),
  selector text not null,
  name text not null check (char_length(name) between 1 and 128),
  used_at timestamptz not null default now(),
  primary key (organization_id, selector)
);
-- Those that nobody has used for long.
create index function_names_used on function_names (used_at);
