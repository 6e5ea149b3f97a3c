import { type Sql, sql } from '@svc/store';
import { beforeAll, describe, expect, it } from 'vitest';
import { everythingOf, newOwner, useDatabase } from '../../testing/database.ts';
import { hold, type LedgerOwner, release, settle } from './ledger.ts';

const ledger = useDatabase();

interface Scene {
  readonly us: LedgerOwner;
  readonly them: LedgerOwner;
  /** 200 of 300 remain. */
  readonly open: string;
  readonly closed: string;
}
let scene: Scene;

beforeAll(async () => {
  const db = ledger.db();
  const us = await newOwner(db, { credits: 1_000n });
  const them = await newOwner(db, { credits: 1_000n });
  const open = (await hold(db, { ...us, amount: 300n, reference: 'open' })).id;
  const closed = (await hold(db, { ...us, amount: 50n, reference: 'closed' })).id;
  await hold(db, { ...us, amount: 400n, reference: 'so that much more is held' });
  await settle(db, { holdId: open, amount: 100n, reference: 'redeem' });
  await release(db, { holdId: closed, reference: 'deleted' });
  scene = { us, them, open, closed };
});

type Attack = (scene: Scene) => Sql;

interface Written {
  readonly type: string;
  readonly amount: bigint | null;
  readonly holdId?: string;
  readonly id?: string;
}

function write(
  { organizationId, environment }: LedgerOwner,
  { type, amount, holdId, id = 'led_attack' }: Written,
): Sql {
  return sql`
    insert into ledger_entries (id, organization_id, environment, type, amount_micros, hold_id, reference)
    values (${id}, ${organizationId}, ${environment}, ${type}, ${amount}, ${holdId ?? null}, 'attack')`;
}

const balances = ({ us }: Scene) => sql`organization_id = ${us.organizationId} and environment = ${us.environment}`;

const attacks: Record<string, Record<string, { attack: Attack; refusal: RegExp }>> = {
  postings: {
    'a posting of its own': {
      attack: ({ open }) => sql`insert into ledger_postings (entry_id, amount_micros) values (${open}, 5)`,
      refusal: /cannot insert into view/,
    },
    'a changed posting': {
      attack: () => sql`update ledger_postings set amount_micros = amount_micros + 1`,
      refusal: /cannot update view/,
    },
    'a deleted posting': { attack: () => sql`delete from ledger_postings`, refusal: /cannot delete from view/ },
    'an entry whose postings could not balance': {
      attack: ({ us, open }) => write(us, { type: 'BONUS', amount: 5n, holdId: open }),
      refusal: /ledger_entries_type_check/,
    },
  },
  entries: {
    'a changed entry': {
      attack: () => sql`update ledger_entries set amount_micros = amount_micros + 1`,
      refusal: /an entry stays as it was written/,
    },
    'a deleted entry': { attack: () => sql`delete from ledger_entries`, refusal: /an entry stays/ },
    'a truncated ledger': { attack: () => sql`truncate ledger_entries cascade`, refusal: /refuses this TRUNCATE/ },
    'an insert that would turn into an update': {
      attack: ({ us, open }) =>
        sql`${write(us, { id: open, type: 'GRANT', amount: 5n })} on conflict (id) do update set amount_micros = 5`,
      refusal: /an entry stays/,
    },
    'the same grant again': {
      attack: ({ us }) => sql`
        insert into ledger_entries (id, organization_id, environment, type, amount_micros, reference)
        values ('led_attack', ${us.organizationId}, ${us.environment}, 'GRANT', 5, 'test credits')`,
      refusal: /ledger_entries_credit/,
    },
    'two entries of one environment in one statement': {
      attack: ({ us }) => sql`
        with first as (${write(us, { id: 'led_attack_1', type: 'GRANT', amount: 5n })})
        ${write(us, { id: 'led_attack_2', type: 'DEPOSIT', amount: 5n })}`,
      refusal: /ledger_entries_number/,
    },
    'an amount of nothing': { attack: ({ us }) => write(us, { type: 'GRANT', amount: 0n }), refusal: /amount_micros/ },
    'a negative amount': { attack: ({ us }) => write(us, { type: 'GRANT', amount: -5n }), refusal: /amount_micros/ },
    'no amount': { attack: ({ us }) => write(us, { type: 'GRANT', amount: null }), refusal: /amount_micros/ },
    'an environment that does not exist': {
      attack: ({ us }) => write({ ...us, organizationId: 'org_nobody' }, { type: 'GRANT', amount: 5n }),
      refusal: /has no environment/,
    },
    'an entry without a reference': {
      attack: ({ us }) => sql`
        insert into ledger_entries (id, organization_id, environment, type, amount_micros)
        values ('led_attack', ${us.organizationId}, ${us.environment}, 'GRANT', 5)`,
      refusal: /reference/,
    },
  },
  balances: {
    'a balance that is set by hand, even in balance': {
      attack: (s) => sql`
        update ledger_balances set available = available + 5, funding = funding - 5 where ${balances(s)}`,
      refusal: /balances change only through entries/,
    },
    'a merge into the balances': {
      attack: (s) => sql`
        merge into ledger_balances using (select 1) as one on ${balances(s)}
        when matched then update set held = held + 5, available = available - 5`,
      refusal: /balances change only through entries/,
    },
    'balances of its own': {
      attack: ({ us }) => sql`
        insert into ledger_balances (organization_id, environment, available, funding)
        values (${us.organizationId}, ${us.environment}, 5, -5)
        on conflict (organization_id, environment) do update set available = 5`,
      refusal: /balances change only through entries/,
    },
    'deleted balances': { attack: () => sql`delete from ledger_balances`, refusal: /balances of an environment stay/ },
    'truncated balances': { attack: () => sql`truncate environments cascade`, refusal: /refuses this TRUNCATE/ },
    'a hold of more than is available': {
      attack: ({ us }) => write(us, { type: 'HOLD', amount: 1_000n }),
      refusal: /ledger_balances_sound/,
    },
    'an amount beyond what a balance can count': {
      attack: ({ us }) => write(us, { type: 'GRANT', amount: 2n ** 63n - 1n }),
      refusal: /out of range/,
    },
  },
  holds: {
    'a hold that is settled by hand': {
      attack: ({ open }) => sql`update ledger_holds set settled_micros = settled_micros + 1 where id = ${open}`,
      refusal: /holds change only through entries/,
    },
    'a reopened hold': {
      attack: ({ closed }) => sql`update ledger_holds set released_micros = 0 where id = ${closed}`,
      refusal: /holds change only through entries/,
    },
    'another status': {
      attack: ({ closed }) => sql`update ledger_holds set status = 'OPEN' where id = ${closed}`,
      refusal: /can only be updated to DEFAULT/,
    },
    'a hold without an entry that took it': {
      attack: ({ us }) => sql`
        insert into ledger_holds (id, organization_id, environment, amount_micros)
        select id, organization_id, environment, 5 from ledger_entries
         where organization_id = ${us.organizationId} and type = 'GRANT'`,
      refusal: /holds change only through entries/,
    },
    'a deleted hold': { attack: () => sql`delete from ledger_holds`, refusal: /a hold stays/ },
    'truncated holds': { attack: () => sql`truncate ledger_holds cascade`, refusal: /a hold stays/ },
    'a settlement of more than remains': {
      attack: ({ us, open }) => write(us, { type: 'SETTLE', amount: 201n, holdId: open }),
      refusal: /ledger_holds_never_exceeded/,
    },
    'a release of more than remains': {
      attack: ({ us, open }) => write(us, { type: 'RELEASE', amount: 201n, holdId: open }),
      refusal: /ledger_holds_never_exceeded/,
    },
    'a settlement of a closed hold': {
      attack: ({ us, closed }) => write(us, { type: 'SETTLE', amount: 1n, holdId: closed }),
      refusal: /a hold ends once/,
    },
    "a settlement of another organisation's hold": {
      attack: ({ them, open }) => write(them, { type: 'SETTLE', amount: 1n, holdId: open }),
      refusal: /no hold .* in this environment/,
    },
    "a release of another organisation's hold": {
      attack: ({ them, open }) => write(them, { type: 'RELEASE', amount: null, holdId: open }),
      refusal: /no hold .* in this environment/,
    },
    "a settlement of the other environment's hold": {
      attack: ({ us, open }) =>
        write({ ...us, environment: 'production' }, { type: 'SETTLE', amount: 1n, holdId: open }),
      refusal: /no hold .* in this environment/,
    },
    'a settlement of what is no hold': {
      attack: ({ us }) => write(us, { type: 'SETTLE', amount: 1n, holdId: 'led_nothing' }),
      refusal: /no hold led_nothing/,
    },
    'a settlement without a hold': {
      attack: ({ us }) => write(us, { type: 'SETTLE', amount: 1n }),
      refusal: /ledger_entries_hold_or_credit/,
    },
    'a grant that names a hold': {
      attack: ({ us, open }) => write(us, { type: 'GRANT', amount: 1n, holdId: open }),
      refusal: /ledger_entries_hold_or_credit/,
    },
    'the same settlement again': {
      attack: ({ us, open }) => sql`
        insert into ledger_entries (id, organization_id, environment, type, amount_micros, hold_id, reference)
        values ('led_attack', ${us.organizationId}, ${us.environment}, 'SETTLE', 1, ${open}, 'redeem')`,
      refusal: /ledger_entries_hold/,
    },
  },
};

for (const [target, list] of Object.entries(attacks)) {
  describe(`the database protects ${target} and refuses`, () => {
    it.each(Object.entries(list))('%s', async (_, { attack, refusal }) => {
      const { us, them } = scene;
      const before = [await everythingOf(ledger.db(), us), await everythingOf(ledger.db(), them)];
      await expect(ledger.db().run(attack(scene))).rejects.toThrow(refusal);
      expect([await everythingOf(ledger.db(), us), await everythingOf(ledger.db(), them)]).toEqual(before);
    });
  });
}
