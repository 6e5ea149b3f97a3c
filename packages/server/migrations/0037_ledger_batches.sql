-- Entries of one statement move the balances and holds together, in place of one after the other. An entry may bring its own figures:
-- they have to continue those before it.
create or replace function ledger_prepare_entry() returns trigger language plpgsql as $$
declare
  balances ledger_balances;
begin
  new.created_at := clock_timestamp();
  if new.number is not null then
    return new;
  end if;
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

create function ledger_apply_entries() returns trigger language plpgsql as $$
declare
  unknown text;
  moved bigint;
begin
  insert into ledger_holds (id, organization_id, environment, amount_micros)
  select id, organization_id, environment, amount_micros from written where type = 'HOLD';

  with ending as (
    select hold_id, organization_id, environment,
           coalesce(sum(amount_micros) filter (where type = 'SETTLE'), 0)::bigint as settled,
           coalesce(sum(amount_micros) filter (where type = 'RELEASE'), 0)::bigint as released
      from written
     where hold_id is not null and type <> 'HOLD'
     group by hold_id, organization_id, environment
  ), ended as (
    update ledger_holds hold
       set settled_micros = settled_micros + ending.settled, released_micros = released_micros + ending.released
      from ending
     where hold.id = ending.hold_id and hold.organization_id = ending.organization_id
       and hold.environment = ending.environment
    returning hold.id, hold.organization_id, hold.environment
  )
  select hold_id into unknown from ending
   where (hold_id, organization_id, environment) not in (select id, organization_id, environment from ended)
   limit 1;
  if found then
    raise exception 'There is no hold % in this environment.', unknown using errcode = 'foreign_key_violation';
  end if;

  -- Each entry's figures before it, less what earlier ones of the statement moved, are the balances' own.
  update ledger_balances balances
     set funding = balances.funding + moving.to_funding, available = balances.available + moving.to_available,
         held = balances.held + moving.to_held, spent = balances.spent + moving.to_spent, entry_count = moving.last
    from (
      select organization_id, environment, count(*) as count, min(number) as first, max(number) as last,
             sum(ledger_posting(type, 'funding', amount_micros))::bigint as to_funding, sum(to_available)::bigint as to_available,
             sum(to_held)::bigint as to_held, sum(ledger_posting(type, 'spent', amount_micros))::bigint as to_spent,
             array_agg(distinct (available_before - earlier_available)::bigint) as available,
             array_agg(distinct (held_before - earlier_held)::bigint) as held
        from (
          select entry.*, sum(to_available) over earlier - to_available as earlier_available,
                 sum(to_held) over earlier - to_held as earlier_held
            from (
              select written.*, ledger_posting(type, 'available', amount_micros) as to_available,
                     ledger_posting(type, 'held', amount_micros) as to_held
                from written
            ) as entry
          window earlier as (partition by organization_id, environment order by number)
        ) as entry
       group by organization_id, environment
    ) as moving
   where balances.organization_id = moving.organization_id and balances.environment = moving.environment
     and balances.entry_count = moving.first - 1 and moving.last - moving.first + 1 = moving.count
     and array[balances.available] = moving.available and array[balances.held] = moving.held;
  get diagnostics moved = row_count;
  if moved <> (select count(distinct (organization_id, environment)) from written) then
    raise exception 'The figures of an entry do not continue those before it.'
      using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create or replace trigger ledger_entries_apply after insert on ledger_entries
  referencing new table as written
  for each statement execute function ledger_apply_entries();

create or replace function ledger_hold_many(
  of_organization text, of_environment text, entry_ids text[], amounts bigint[], entry_references text[]
) returns bigint language plpgsql as $$
declare
  balances ledger_balances;
begin
  select * into balances from ledger_balances
   where organization_id = of_organization and environment = of_environment
     for no key update;
  if balances.available >= (select sum(amount) from unnest(amounts) as amount) then
    insert into ledger_entries (id, organization_id, environment, number, type, amount_micros, hold_id, reference,
                                available_before, held_before)
    select id, of_organization, of_environment, balances.entry_count + place, 'HOLD', amount, id, reference,
           balances.available - earlier, balances.held + earlier
      from (
        select id, amount, reference, place, (sum(amount) over (order by place) - amount)::bigint as earlier
          from unnest(entry_ids, amounts, entry_references) with ordinality as wanted (id, amount, reference, place)
      ) as wanted;
  end if;
  return balances.available;
end $$;

-- Settles or releases parts of many holds, an entry each, in the order given. One that was written before is left out. Answers how
-- many were written.
create function ledger_end_many(
  entry_ids text[], entry_types text[], hold_ids text[], amounts bigint[], entry_references text[]
) returns bigint language plpgsql as $$
declare
  written bigint;
begin
  perform from ledger_balances
    where (organization_id, environment) in (
      select organization_id, environment from ledger_holds where id = any (hold_ids))
    order by organization_id collate "C", environment collate "C"
      for no key update;
  -- A statement of its own, which sees what was written until the lock was taken.
  insert into ledger_entries (id, organization_id, environment, number, type, amount_micros, hold_id, reference,
                              available_before, held_before)
  select wanted.id, hold.organization_id, hold.environment,
         balances.entry_count + row_number() over earlier, wanted.type, amount, hold.id, reference,
         balances.available + (sum(released) over earlier - released)::bigint,
         balances.held - (sum(amount) over earlier - amount)::bigint
    from (
      select *, case type when 'RELEASE' then amount else 0 end as released
        from unnest(entry_ids, entry_types, hold_ids, amounts, entry_references)
             with ordinality as wanted (id, type, hold_id, amount, reference, place)
    ) as wanted
    join ledger_holds hold on hold.id = wanted.hold_id
    join ledger_balances balances
      on balances.organization_id = hold.organization_id and balances.environment = hold.environment
   where not exists (
     select from ledger_entries known
      where known.hold_id = wanted.hold_id and known.type = wanted.type and known.reference = wanted.reference)
  window earlier as (partition by hold.organization_id, hold.environment order by place);
  get diagnostics written = row_count;
  return written;
end $$;
