import { ApiError } from '@svc/protocol';
import type { Db } from '@svc/store';
import fc from 'fast-check';
import {
  credit,
  type Entry,
  type Hold,
  hold,
  type LedgerOwner,
  release,
  reverse,
  settle,
} from '../src/ledger/ledger.ts';

/** Random operations on the ledger and on a model of it. */
export type Operation =
  | { readonly op: 'credit'; owner: number; type: 'DEPOSIT' | 'GRANT'; amount: bigint; reference: string }
  | { readonly op: 'reverse'; owner: number; amount: bigint; reference: string }
  | { readonly op: 'hold'; owner: number; amount: bigint }
  | { readonly op: 'settle'; hold: number; amount: bigint; reference: string }
  | { readonly op: 'release'; hold: number; amount: bigint | undefined; reference: string };

/** `done` moved money, `repeated` answered the first entry, the others changed nothing. */
export type Outcome = 'done' | 'repeated' | 'insufficient' | 'refused' | 'no such hold';

export const OWNERS = 3;

// Small numbers, so that random operations often meet: the same reference, the same hold, the last credit.
const owner = fc.nat({ max: OWNERS - 1 });
const upTo = (max: bigint) => fc.bigInt({ min: 1n, max });
const reference = fc.constantFrom('a', 'b', 'c', 'd');
const anyHold = fc.nat({ max: 20 });

const aCredit = fc.record({
  op: fc.constant('credit' as const),
  owner,
  type: fc.constantFrom('DEPOSIT' as const, 'GRANT' as const),
  amount: upTo(150n),
  reference,
});
const aReversal = fc.record({ op: fc.constant('reverse' as const), owner, amount: upTo(60n), reference });
const aHold = fc.record({ op: fc.constant('hold' as const), owner, amount: upTo(60n) });
const aSettlement = fc.record({ op: fc.constant('settle' as const), hold: anyHold, amount: upTo(25n), reference });
const aRelease = fc.record({
  op: fc.constant('release' as const),
  hold: anyHold,
  amount: fc.option(upTo(25n), { nil: undefined, freq: 2 }),
  reference,
});

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { arbitrary: aCredit, weight: 3 },
  { arbitrary: aReversal, weight: 1 },
  { arbitrary: aHold, weight: 2 },
  { arbitrary: aSettlement, weight: 3 },
  { arbitrary: aRelease, weight: 2 },
);

/** Credits and a hold for every owner. */
export const beginning: readonly Operation[] = Array.from({ length: OWNERS }, (_, owner): Operation[] => [
  { op: 'credit', owner, type: 'GRANT', amount: 100n, reference: 'beginning' },
  { op: 'hold', owner, amount: 40n },
]).flat();

interface ModelHold {
  readonly owner: number;
  readonly amount: bigint;
  settled: bigint;
  released: bigint;
  readonly ended: Map<string, bigint>;
}

export class Model {
  readonly balances = Array.from({ length: OWNERS }, () => ({ available: 0n, held: 0n, spent: 0n, entries: 0 }));
  readonly holds: ModelHold[] = [];
  readonly #credited = new Set<string>();

  apply(operation: Operation): Outcome {
    if (operation.op === 'credit') return this.#credit(operation);
    if (operation.op === 'reverse') return this.#reverse(operation);
    if (operation.op === 'hold') return this.#hold(operation.owner, operation.amount);
    return this.#end(operation);
  }

  #balance(owner: number) {
    const balance = this.balances[owner];
    if (!balance) throw new RangeError(`There is no owner ${owner}.`);
    return balance;
  }

  #credit({ owner, type, amount, reference }: Operation & { op: 'credit' }): Outcome {
    const key = `${owner} ${type} ${reference}`;
    if (this.#credited.has(key)) return 'repeated';
    this.#credited.add(key);
    const balance = this.#balance(owner);
    balance.available += amount;
    balance.entries++;
    return 'done';
  }

  #reverse({ owner, amount, reference }: Operation & { op: 'reverse' }): Outcome {
    const balance = this.#balance(owner);
    if (balance.available === 0n) return 'insufficient';
    const key = `${owner} REVERSAL ${reference}`;
    if (this.#credited.has(key)) return 'refused';
    this.#credited.add(key);
    balance.available -= amount < balance.available ? amount : balance.available;
    balance.entries++;
    return 'done';
  }

  #hold(owner: number, amount: bigint): Outcome {
    const balance = this.#balance(owner);
    if (balance.available < amount) return 'insufficient';
    balance.available -= amount;
    balance.held += amount;
    balance.entries++;
    this.holds.push({ owner, amount, settled: 0n, released: 0n, ended: new Map() });
    return 'done';
  }

  #end(operation: Operation & { op: 'settle' | 'release' }): Outcome {
    const hold = this.holds[operation.hold % this.holds.length];
    if (!hold) return 'no such hold';
    const remaining = hold.amount - hold.settled - hold.released;
    const amount = operation.amount ?? remaining;
    const key = `${operation.op} ${operation.reference}`;
    const before = hold.ended.get(key);
    if (before !== undefined) return operation.amount === undefined || amount === before ? 'repeated' : 'refused';
    if (amount === 0n || amount > remaining) return 'refused';
    hold.ended.set(key, amount);
    const balance = this.#balance(hold.owner);
    balance.held -= amount;
    balance.entries++;
    if (operation.op === 'settle') {
      hold.settled += amount;
      balance.spent += amount;
    } else {
      hold.released += amount;
      balance.available += amount;
    }
    return 'done';
  }
}

/** Runs an operation on the real ledger. New holds are added to `holds`; an unexpected failure is thrown. */
export async function perform(
  db: Db,
  owners: readonly LedgerOwner[],
  holds: Hold[],
  seen: Set<string>,
  operation: Operation,
): Promise<Outcome> {
  try {
    if (operation.op === 'credit') {
      const { owner, op: _, ...what } = operation;
      return (await credit(db, { ...ownerAt(owners, owner), ...what })).created ? 'done' : 'repeated';
    }
    if (operation.op === 'reverse') {
      const { owner, op: _, ...what } = operation;
      return (await reverse(db, { ...ownerAt(owners, owner), ...what })) ? 'done' : 'insufficient';
    }
    if (operation.op === 'hold') {
      const what = { ...ownerAt(owners, operation.owner), amount: operation.amount, reference: 'hold' };
      holds.push(await hold(db, what));
      return 'done';
    }
    const holdId = holds[operation.hold % holds.length]?.id;
    if (holdId === undefined) return 'no such hold';
    return firstSeen(seen, await endHold(db, holdId, operation)) ? 'done' : 'repeated';
  } catch (error) {
    if (error instanceof ApiError && error.code === 'insufficient_credits') return 'insufficient';
    if (isRefusal(error)) return 'refused';
    throw error;
  }
}

function endHold(db: Db, holdId: string, operation: Operation & { op: 'settle' | 'release' }): Promise<Entry> {
  const { amount, reference } = operation;
  if (operation.op === 'settle') return settle(db, { holdId, amount: operation.amount, reference });
  return release(db, { holdId, reference, ...(amount === undefined ? {} : { amount }) });
}

function firstSeen(seen: Set<string>, { id }: Entry): boolean {
  const first = !seen.has(id);
  seen.add(id);
  return first;
}

function ownerAt(owners: readonly LedgerOwner[], index: number): LedgerOwner {
  const owner = owners[index];
  if (!owner) throw new RangeError(`There is no owner ${index}.`);
  return owner;
}

const REFUSALS =
  /a hold ends once|ledger_entries_credit|ledger_holds_never_exceeded|has nothing left|was \d+ micros before/;

// A deadlock or a lost connection must not pass for a refusal.
function isRefusal(error: unknown): boolean {
  return error instanceof Error && REFUSALS.test(error.message);
}
