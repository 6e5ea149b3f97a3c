-- Credits by double entry, in millionths of a dollar. Writing an entry is the only way to move money: its triggers move
-- the balances and the hold with it, and whatever else tries to change a number is refused, by hand or by program.

-- The four accounts of an environment are one row. Every money operation locks it first, so operations of one
-- environment stand in one line, and no two can wait for each other in a circle.
create table ledger_balances (
  organization_id text not null,
  environment text not null,
  -- What came in from outside, counted below zero so that the four sum to zero.
  funding bigint not null default 0,
  available bigint not null default 0,
  held bigint not null default 0,
  spent bigint not null default 0,
  entry_count bigint not null default 0,
  primary key (organization_id, environment),
  foreign key (organization_id, environment) references environments (organization_id, environment),
  constraint ledger_balances_sound check (
    funding <= 0 and available >= 0 and held >= 0 and spent >= 0 and funding + available + held + spent = 0)
) with (fillfactor = 50);

-- Organisation and environment need no foreign key here: writing an entry locks their balances, which stay for ever.
create table ledger_entries (
  id text primary key,
  organization_id text not null,
  environment text not null,
  -- Counts from 1 in each environment, so that a missing entry would show.
  number bigint not null,
  type text not null check (type in ('DEPOSIT', 'GRANT', 'HOLD', 'SETTLE', 'RELEASE')),
  amount_micros bigint not null check (amount_micros > 0),
  -- The hold that the entry took, settled or released. A hold has the id of the entry that took it.
  hold_id text constraint ledger_entries_hold_or_credit check ((hold_id is null) = (type in ('DEPOSIT', 'GRANT'))),
  reference text not null check (char_length(reference) between 1 and 255),
  available_before bigint not null,
  held_before bigint not null,
  created_at timestamptz not null
);
-- The entries of an environment, newest first.
create unique index ledger_entries_number on ledger_entries (organization_id, environment, number);
-- The same deposit or grant never credits twice.
create unique index ledger_entries_credit on ledger_entries (organization_id, environment, type, reference)
  where hold_id is null;
-- The same settlement or release of a hold never happens twice.
create unique index ledger_entries_hold on ledger_entries (hold_id, type, reference) where hold_id is not null;

create table ledger_holds (
  id text primary key references ledger_entries (id),
  organization_id text not null,
  environment text not null,
  amount_micros bigint not null,
  settled_micros bigint not null default 0,
  released_micros bigint not null default 0,
  status text not null generated always as (
    case when settled_micros + released_micros = amount_micros then 'CLOSED' else 'OPEN' end) stored,
  constraint ledger_holds_never_exceeded check (
    settled_micros >= 0 and released_micros >= 0 and settled_micros + released_micros <= amount_micros)
) with (fillfactor = 80);

-- What an entry adds to each account: two postings that sum to zero.
create function ledger_posting(type text, account text, amount bigint) returns bigint language sql immutable
return case account
  when 'funding' then case type when 'DEPOSIT' then -amount when 'GRANT' then -amount else 0 end
  when 'available' then case type when 'HOLD' then -amount when 'SETTLE' then 0 else amount end
  when 'held' then case type when 'HOLD' then amount when 'SETTLE' then -amount when 'RELEASE' then -amount else 0 end
  when 'spent' then case type when 'SETTLE' then amount else 0 end
end;
create view ledger_postings as
  select entry.id as entry_id, entry.organization_id, entry.environment, account,
         ledger_posting(entry.type, account, entry.amount_micros) as amount_micros
    from ledger_entries entry
    cross join unnest(array['funding', 'available', 'held', 'spent']) as account
   where ledger_posting(entry.type, account, entry.amount_micros) <> 0;

-- Before the insert: lock the balances and take the next number. Nothing changes yet, because an insert that says
-- "on conflict do nothing" may still be dropped. A RELEASE without an amount means all that remains, even nothing.
create function ledger_prepare_entry() returns trigger language plpgsql as $$
declare
  balances ledger_balances;
begin
  select * into balances from ledger_balances
   where organization_id = new.organization_id and environment = new.environment
     for no key update;
  if not found then
    raise exception 'Organisation % has no environment %.', new.organization_id, new.environment
      using errcode = 'foreign_key_violation';
  end if;
  new.number := balances.entry_count + 1;
  new.available_before := balances.available;
  new.held_before := balances.held;
  new.created_at := clock_timestamp();
  if new.type = 'HOLD' then
    new.hold_id := new.id;
  elsif new.type = 'RELEASE' and new.amount_micros is null then
    select amount_micros - settled_micros - released_micros into new.amount_micros
      from ledger_holds where id = new.hold_id;
    if new.amount_micros = 0 then
      return null;
    end if;
  end if;
  return new;
end $$;
create trigger ledger_entries_prepare before insert on ledger_entries
  for each row execute function ledger_prepare_entry();

-- After the insert: move the hold and the balances.
create function ledger_apply_entry() returns trigger language plpgsql as $$
begin
  if new.type = 'HOLD' then
    insert into ledger_holds (id, organization_id, environment, amount_micros)
    values (new.id, new.organization_id, new.environment, new.amount_micros);
  elsif new.hold_id is not null then
    update ledger_holds
       set settled_micros = settled_micros + ledger_posting(new.type, 'spent', new.amount_micros),
           released_micros = released_micros + ledger_posting(new.type, 'available', new.amount_micros)
     where id = new.hold_id and organization_id = new.organization_id and environment = new.environment;
    if not found then
      raise exception 'There is no hold % in this environment.', new.hold_id using errcode = 'foreign_key_violation';
    end if;
  end if;
  update ledger_balances
     set funding = funding + ledger_posting(new.type, 'funding', new.amount_micros),
         available = available + ledger_posting(new.type, 'available', new.amount_micros),
         held = held + ledger_posting(new.type, 'held', new.amount_micros),
         spent = spent + ledger_posting(new.type, 'spent', new.amount_micros),
         entry_count = new.number
   where organization_id = new.organization_id and environment = new.environment;
  return null;
end $$;
create trigger ledger_entries_apply after insert on ledger_entries
  for each row execute function ledger_apply_entry();

-- Every environment has its balances from the beginning.
create function ledger_open_balances() returns trigger language plpgsql as $$
begin
  insert into ledger_balances (organization_id, environment) select organization_id, environment from opened;
  return null;
end $$;
create trigger environments_open_balances after insert on environments
  referencing new table as opened
  for each statement execute function ledger_open_balances();
insert into ledger_balances (organization_id, environment) select organization_id, environment from environments;

-- The guards. At depth 0 a statement was typed or sent; the triggers above work at depth 1.
create function ledger_refuse() returns trigger language plpgsql as $$
begin
  raise exception 'The ledger refuses this % of %: %.', tg_op, tg_table_name, tg_argv[0]
    using errcode = 'integrity_constraint_violation';
end $$;
create trigger ledger_entries_immutable before update or delete or truncate on ledger_entries
  for each statement execute function ledger_refuse('an entry stays as it was written');
create trigger ledger_balances_permanent before delete or truncate on ledger_balances
  for each statement execute function ledger_refuse('the balances of an environment stay');
create trigger ledger_balances_follow before insert or update on ledger_balances
  for each statement when (pg_trigger_depth() = 0)
  execute function ledger_refuse('balances change only through entries');
create trigger ledger_holds_permanent before delete or truncate on ledger_holds
  for each statement execute function ledger_refuse('a hold stays, open or closed');
create trigger ledger_holds_follow before insert or update on ledger_holds
  for each statement when (pg_trigger_depth() = 0)
  execute function ledger_refuse('holds change only through entries');
create trigger ledger_holds_closed before update on ledger_holds
  for each row when (old.status = 'CLOSED') execute function ledger_refuse('a hold ends once');
