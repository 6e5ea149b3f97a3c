import type { Environment } from '@svc/protocol';
import { type Db, type Sql, sql } from '@svc/store';

/** Bounds the memory that a broken ledger of a million rows takes. */
const MAX_VIOLATIONS_EACH = 100;

export interface Violation {
  readonly invariant: string;
  readonly organizationId: string;
  readonly environment: Environment;
  /** An account, entry or hold. */
  readonly subject: string;
}

/** Each query finds violations: organisation, environment and subject. */
const invariants: Readonly<Record<string, Sql>> = {
  'the postings of an entry sum to zero': sql`
    select organization_id, environment, entry_id
      from ledger_postings
     group by organization_id, environment, entry_id
    having sum(amount_micros) <> 0`,

  'a balance is the sum of its postings': sql`
    select organization_id, environment, account
      from ledger_balances
     cross join lateral (
       values ('funding', funding), ('available', available), ('held', held), ('spent', spent)
     ) as kept (account, amount)
      full join (
        select organization_id, environment, account, sum(amount_micros) as amount
          from ledger_postings
         group by organization_id, environment, account
      ) as posted using (organization_id, environment, account)
     where coalesce(kept.amount, 0) <> coalesce(posted.amount, 0)`,

  'no balance crosses zero': sql`
    select organization_id, environment, account
      from ledger_balances
     cross join lateral (
       values ('funding', -funding), ('available', available), ('held', held), ('spent', spent)
     ) as kept (account, amount)
     where kept.amount < 0`,

  'entries are numbered without a gap': sql`
    select organization_id, environment,
           'entry ' || coalesce(min(position) filter (where number <> position),
                                least(entry_count, count(position)) + 1)
      from ledger_balances
      left join (
        select organization_id, environment, number,
               row_number() over (partition by organization_id, environment order by number) as position
          from ledger_entries
      ) as entries using (organization_id, environment)
     group by organization_id, environment, entry_count
    having count(position) <> entry_count or count(*) filter (where number <> position) > 0`,

  'an entry begins where the one before it ended': sql`
    select organization_id, environment, id
      from (
        select *,
               sum(ledger_posting(type, 'available', amount_micros)) over earlier as available,
               sum(ledger_posting(type, 'held', amount_micros)) over earlier as held
          from ledger_entries
        window earlier as (
          partition by organization_id, environment order by number
          rows between unbounded preceding and 1 preceding)
      ) as entries
     where available_before <> coalesce(available, 0) or held_before <> coalesce(held, 0)`,

  'a hold is what its entries say': sql`
    select organization_id, environment, id
      from ledger_holds
      full join (
        select organization_id, environment, hold_id as id,
               sum(amount_micros) filter (where type = 'HOLD') as amount,
               coalesce(sum(amount_micros) filter (where type = 'SETTLE'), 0) as settled,
               coalesce(sum(amount_micros) filter (where type = 'RELEASE'), 0) as released
          from ledger_entries
         where hold_id is not null
         group by organization_id, environment, hold_id
      ) as written using (organization_id, environment, id)
     where (amount_micros, settled_micros, released_micros) is distinct from (amount, settled, released)`,

  'a hold ends once': sql`
    select organization_id, environment, id
      from ledger_holds
     where settled_micros + released_micros > amount_micros
        or (status = 'CLOSED') <> (settled_micros + released_micros = amount_micros)`,

  'the held credits are those of the open holds': sql`
    select organization_id, environment, 'held'
      from ledger_balances
      left join ledger_holds using (organization_id, environment)
     group by organization_id, environment, held
    having held <> coalesce(sum(amount_micros - settled_micros - released_micros) filter (where status = 'OPEN'), 0)`,
};

/** Reads the whole ledger in one snapshot. */
export function findBrokenInvariants(db: Db): Promise<Violation[]> {
  const checks = Object.entries(invariants).map(
    ([invariant, query]) => sql`
      (select ${invariant}::text as invariant, found.*
         from (${query}) as found ("organizationId", environment, subject)
        limit ${MAX_VIOLATIONS_EACH})`,
  );
  return db.rows<Violation>(checks.reduce((all, check) => sql`${all} union all ${check}`));
}
