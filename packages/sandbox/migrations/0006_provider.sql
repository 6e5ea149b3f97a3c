-- The provider of development: takes orders, delivers each of them once, and keeps a ledger of what it did.

create table sandbox.provider (
  only_one boolean primary key default true check (only_one),
  -- How long an order takes that is not delivered at once.
  slow_seconds integer not null default 3
);
insert into sandbox.provider default values;

create table sandbox.provider_orders (
  order_id text collate "C" primary key,
  -- What was ordered. The same id with anything else is refused.
  request jsonb not null,
  state text not null check (state in ('accepted', 'completed', 'failed')),
  -- One of the two, known from the start and told in the end.
  file_number text,
  reason text,
  -- How often the order came, and how often it was looked up.
  asked integer not null default 1,
  looked_up integer not null default 0,
  -- How often it was delivered. More than once would be a mistake.
  delivered integer not null default 0,
  received_at timestamptz not null default clock_timestamp(),
  -- When an accepted order is delivered, or fails.
  due_at timestamptz,
  -- What the provider has yet to tell by itself, its next word first, and from when on.
  to_tell text[] not null default '{}' check (to_tell <@ array['truth', 'lie']),
  tell_at timestamptz,
  -- How often the next word was tried, and the HTTP statuses that earlier ones were answered with.
  tried integer not null default 0,
  told integer[] not null default '{}',
  check (num_nulls(file_number, reason) = 1),
  check (state = 'accepted' or (state = 'completed') = (file_number is not null)),
  check (state <> 'accepted' or due_at is not null)
);
-- Serve the provider's look each second: what is to be delivered, what is to be told.
create index provider_orders_due on sandbox.provider_orders (due_at) where state = 'accepted';
create index provider_orders_to_tell on sandbox.provider_orders (tell_at) where to_tell <> '{}';
-- The newest first.
create index provider_orders_received on sandbox.provider_orders (received_at desc);

-- Faults that were ordered: a number of times, until a time, whichever comes first.
create table sandbox.provider_faults (
  id integer generated always as identity primary key,
  kind text not null,
  request text not null,
  reference text,
  remaining integer check (remaining >= 0),
  expires_at timestamptz not null
);
