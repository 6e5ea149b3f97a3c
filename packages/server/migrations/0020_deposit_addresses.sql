-- Where an organisation's USDC arrives: an account that the manager's key owns. Address, class, salt and key are stored when the
-- address is first shown, so that another current class does not change it.
create table deposit_addresses (
  environment text not null,
  address text not null,
  organization_id text not null,
  public_key text not null,
  class_hash text not null,
  salt text not null,
  -- When its balance is to be read; null while nothing has arrived since it was read last.
  sweep_at timestamptz,
  -- When the oldest money arrived that is not swept, as far as is known.
  unswept_since timestamptz,
  -- The sweep under way.
  relay_id text references relays (id) deferrable initially deferred,
  created_at timestamptz not null default now(),
  primary key (environment, address),
  unique (organization_id, environment, public_key),
  foreign key (organization_id, environment) references environments (organization_id, environment)
);
-- Those whose balance is to be read, the longest waiting first.
create index deposit_addresses_sweep on deposit_addresses (environment, sweep_at) where sweep_at is not null;

-- What one transaction brought to a deposit address. Ledger entries follow the chain: they move credited_micros to amount_micros.
create table deposits (
  chain_id text not null,
  transaction_hash text not null,
  address text not null,
  organization_id text not null,
  environment text not null,
  -- 0 when a reorganisation removed the transaction and it did not return.
  amount_micros bigint not null check (amount_micros >= 0),
  credited_micros bigint not null default 0 check (credited_micros >= 0),
  -- How many ledger entries it has, and its latest credit.
  entries integer not null default 0,
  entry_id text,
  block_number bigint not null,
  block_hash text not null,
  -- Since when its block is gone; null while it stands.
  missing_since timestamptz,
  -- When it was last tried to bring the ledger to the amount.
  tried_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (chain_id, transaction_hash, address)
);
-- Those that the ledger does not match yet, the longest untried first.
create index deposits_open on deposits (chain_id, tried_at nulls first)
  where credited_micros <> amount_micros or missing_since is not null;
-- Those in blocks that were read again, or are gone.
create index deposits_block on deposits (chain_id, block_number);

-- A REVERSAL takes back a deposit that a reorganisation removed.
alter table ledger_entries drop constraint ledger_entries_type_check;
alter table ledger_entries add constraint ledger_entries_type_check
  check (type in ('DEPOSIT', 'GRANT', 'REVERSAL', 'HOLD', 'SETTLE', 'RELEASE'));
alter table ledger_entries drop constraint ledger_entries_hold_or_credit;
alter table ledger_entries add constraint ledger_entries_hold_or_credit
  check ((hold_id is null) = (type in ('DEPOSIT', 'GRANT', 'REVERSAL')));
create or replace function ledger_posting(type text, account text, amount bigint) returns bigint language sql immutable
return case account
  when 'funding' then case type when 'DEPOSIT' then -amount when 'GRANT' then -amount when 'REVERSAL' then amount else 0 end
  when 'available' then case type when 'HOLD' then -amount when 'REVERSAL' then -amount when 'SETTLE' then 0 else amount end
  when 'held' then case type when 'HOLD' then amount when 'SETTLE' then -amount when 'RELEASE' then -amount else 0 end
  when 'spent' then case type when 'SETTLE' then amount else 0 end
end;
