-- The transactions of wallets, sent and received. A record is never deleted.
create table transactions (
  id text collate "C" primary key,
  organization_id text not null,
  environment text not null,
  api_public_key text not null,
  type text not null check (type in ('SEND', 'RECEIVE', 'CONTRACT_CALL', 'SKU_PURCHASE')),
  sub_type text check (sub_type in ('TRANSFER', 'MULTICALL', 'SESSION')),
  chain text not null
    check (chain in ('STARKNET', 'BASE', 'ARBITRUM', 'OPTIMISM', 'ROOTSTOCK', 'SCROLL', 'WORLDCHAIN')),
  -- Null until it is known; until then nobody sees the record.
  transaction_hash text check (char_length(transaction_hash) <= 66),
  -- The place of its Transfer event in the receipt.
  event_index integer check (event_index >= 0),
  relay_id text,
  call_index integer check (call_index >= 0),
  sender_address text not null check (char_length(sender_address) <= 66),
  destination_address text not null check (char_length(destination_address) <= 66),
  contract_address text check (char_length(contract_address) <= 66),
  contract_name text check (char_length(contract_name) <= 128),
  -- Chosen by callers, and part of an index.
  function_name text check (char_length(function_name) between 1 and 128),
  function_selector text check (char_length(function_selector) <= 66),
  token text,
  token_address text check (char_length(token_address) <= 66),
  amount numeric(78) check (amount >= 0),
  sku_id text,
  sku_reference text check (char_length(sku_reference) <= 255),
  sku_purchase_amount numeric(20, 6) check (sku_purchase_amount >= 0),
  sku_purchase_currency text check (sku_purchase_currency in ('MXN', 'USD')),
  sku_file_number text check (char_length(sku_file_number) <= 255),
  status text not null check (status in ('PENDING', 'PROCESSING', 'SUCCESS', 'FAILED', 'CANCELLED')),
  revert_reason text check (char_length(revert_reason) <= 4000),
  block_number bigint check (block_number >= 0),
  sender_wallet_id text,
  destination_wallet_id text,
  -- When it happened. The history is in this order.
  created_at timestamptz not null check (isfinite(created_at)),
  confirmed_at timestamptz,
  updated_at timestamptz not null,
  foreign key (organization_id, environment) references environments (organization_id, environment),
  constraint transactions_event_has_hash check (event_index is null or transaction_hash is not null),
  constraint transactions_confirmed_is_success check (confirmed_at is null or status = 'SUCCESS')
);
-- An event is recorded once for an organisation; a null is like no other, so records without an event are not held to it.
-- It also finds the records of a hash.
create unique index transactions_event
  on transactions (transaction_hash, event_index, chain, environment, organization_id);
-- The records that a relay executes.
create index transactions_relay on transactions (relay_id, call_index) where relay_id is not null;
-- What stood in blocks that are no longer there.
create index transactions_block on transactions (environment, chain, block_number) where block_number is not null;

-- The history of an address in one environment of an organisation, under a short key. No part contains a space.
create function history_key(organization_id text, environment text, address text) returns uuid
language sql immutable parallel safe
return left(encode(sha256((organization_id || ' ' || environment || ' ' || address)::bytea), 'hex'), 32)::uuid;

-- An entry for each address that a transaction touches, from when its hash is known.
create table transaction_history (
  history uuid not null,
  created_at timestamptz not null,
  transaction_id text collate "C" not null,
  function_name text collate "C",
  -- A page of the history, newest first. Seldom vacuumed, the walk to it would have to visit the table.
  primary key (history, created_at, transaction_id)
) with (autovacuum_vacuum_insert_scale_factor = 0.01);
-- A page of the entries that called one function.
create index transaction_history_function
  on transaction_history (history, function_name, created_at, transaction_id) where function_name is not null;

-- How long a history is, and where its thousandth entry stands, is known without walking it: each row says how many
-- entries there are from its place to the next row's. '' stands for the entries of all functions. The rows are kept by a
-- job, and what it has not seen yet waits in transaction_history_uncounted. So whoever adds an entry changes no row that
-- another could be changing, and nobody ever waits for a wallet that is paid often.
create table transaction_history_counts (
  history uuid not null,
  function_name text collate "C" not null,
  from_created_at timestamptz not null,
  from_id text collate "C" not null,
  entries integer not null check (entries >= 0),
  primary key (history, function_name, from_created_at, from_id)
) with (fillfactor = 80);

create table transaction_history_uncounted (
  history uuid not null,
  created_at timestamptz not null,
  transaction_id text collate "C" not null,
  function_name text collate "C",
  primary key (history, created_at, transaction_id)
);

create function transaction_enters_history() returns trigger language plpgsql as $$
begin
  with entry as (
    insert into transaction_history (history, created_at, transaction_id, function_name)
    select distinct history_key(new.organization_id, new.environment, address), new.created_at, new.id, new.function_name
      from unnest(array[new.sender_address, new.destination_address]) as address
    returning history, created_at, transaction_id, function_name
  )
  insert into transaction_history_uncounted (history, created_at, transaction_id, function_name)
  select history, created_at, transaction_id, function_name from entry;
  return null;
end $$;
create trigger transactions_shown after insert on transactions
  for each row when (new.transaction_hash is not null) execute function transaction_enters_history();
create trigger transactions_shown_later after update of transaction_hash on transactions
  for each row when (old.transaction_hash is null and new.transaction_hash is not null)
  execute function transaction_enters_history();

-- The history stands on these.
create function transactions_refuse() returns trigger language plpgsql as $$
begin
  raise exception 'Transactions refuse this %: a record stays, and so do its place in the history and its addresses.', tg_op
    using errcode = 'integrity_constraint_violation';
end $$;
create trigger transactions_permanent before delete or truncate on transactions
  for each statement execute function transactions_refuse();
create trigger transactions_settled before update on transactions
  for each row when (
    (old.id, old.organization_id, old.environment, old.sender_address, old.destination_address, old.created_at)
      is distinct from
    (new.id, new.organization_id, new.environment, new.sender_address, new.destination_address, new.created_at)
    or old.function_name is distinct from new.function_name
    or (old.transaction_hash is not null and new.transaction_hash is null))
  execute function transactions_refuse();

-- Reported transfers whose end has not been seen yet: few at any time, and looked for every minute.
create index transactions_unconfirmed on transactions (id)
  where status = 'PENDING' and type = 'SEND' and relay_id is null;
