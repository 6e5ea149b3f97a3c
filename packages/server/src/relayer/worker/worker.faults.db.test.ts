import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newWallet, transferCall } from '../../../testing/chain.ts';
import { RelayerFixture } from '../../../testing/relayer.ts';
import { ChainUnavailableError, nodeUse } from '../../chains/node-fetch.ts';
import type { OutcomeHandler } from '../outcome.ts';
import { findRelay } from '../relay-store.ts';

const SEND = 'starknet_addInvokeTransaction';
const nothing = async () => {};

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start();
});
afterAll(() => relayers.stop());

const passes = [
  ['whole passes', false],
  ['passes that read receipts first', true],
] as const;

describe.each(passes)(
  '%s: when the node fails at a send, the money moves once and the relay ends as it truly did',
  (_, isSent) => {
    it.each([
      ['the answer is lost', { kind: 'lose-answer' }],
      ['the transaction is forgotten', { kind: 'forget' }],
      ['it is forgotten again and again', { kind: 'forget', count: 4 }],
      ['the transaction is rejected', { kind: 'reject', reason: 'not today' }],
      ['it is rejected again and again', { kind: 'reject', count: 4 }],
      ['the node is unavailable', { kind: 'unavailable', method: SEND }],
      ['the node is unavailable again and again', { kind: 'unavailable', method: SEND, count: 4 }],
      ['the node has an internal error', { kind: 'error', method: SEND, code: -32603, message: 'Internal error' }],
      ['the node is slow', { kind: 'slow', method: SEND, delayMs: 300 }],
    ])('%s', async (_, fault) => {
      const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
      const { outcomes } = relayers;
      const pause = async (ms: number) => {
        relayers.clock.advance(ms);
        await relayers.runPass({}, {}, isSent);
      };
      const sponsor = relayers.sponsorWith({ pause });
      const nonce = await relayers.nonce();
      const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
      await relayers.sandbox.fault(fault);
      const { id, hash } = await sponsor.sponsor(asked, nothing);
      await relayers.finish({}, {}, isSent);
      expect(await relayers.balance(bob)).toBe(7n);
      expect(await relayers.states()).toEqual(['SUCCEEDED']);
      expect(outcomes).toMatchObject([{ relayId: id, result: 'SUCCEEDED', hash }]);
      expect(await relayers.nonce()).toBe(nonce + 1n);
    });
  },
);

const READ_FAULTS = [
  ['unavailable', { kind: 'unavailable', count: 6 }],
  ['out of order', { kind: 'error', code: -32603, message: 'Internal error', count: 6 }],
  ['behind', { kind: 'stale', blocks: 1, count: 9 }],
  ['behind in receipts alone', { kind: 'stale', blocks: 1, count: 3, method: 'starknet_getTransactionReceipt' }],
] as const;

describe('when the node fails while a relay is followed, its state waits for the truth', () => {
  it.each([
    ...READ_FAULTS.map(([name, fault]) => [name, fault, false] as const),
    ['behind in nonces alone', { kind: 'stale', blocks: 1, count: 4, method: 'starknet_getNonce' }, false] as const,
    ...READ_FAULTS.map(([name, fault]) => [`${name}, and receipts come first`, fault, true] as const),
  ])('the node is %s', async (_, fault, isSent) => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, outcomes } = relayers;
    const { hash } = await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    await relayers.sandbox.fault(fault);
    await relayers.runPass({}, {}, isSent);
    expect(await relayers.states()).toEqual(['SENT']);
    await relayers.finish({}, {}, isSent);
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
    expect(outcomes).toMatchObject([{ result: 'SUCCEEDED', hash }]);
    expect(await relayers.balance(bob)).toBe(7n);
  });

  it('a transaction that no node has any more is sent again, although a node took it', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, outcomes } = relayers;
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    await relayers.sandbox.fault({ kind: 'forget' });
    const { hash } = await sponsor.sponsor(asked, nothing);
    await relayers.runPass({}, {}, true);
    expect([await relayers.states(), await relayers.balance(bob)]).toEqual([['SENT'], 0n]);
    relayers.clock.advance(3_000);
    await relayers.finish({}, {}, true);
    expect(outcomes).toMatchObject([{ result: 'SUCCEEDED', hash }]);
    expect(await relayers.balance(bob)).toBe(7n);
  });

  it('one that waits in the open block is left alone, and ends with it', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, outcomes } = relayers;
    await relayers.sandbox.holdBlocks();
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    relayers.clock.advance(10_000);
    const asked = nodeUse.requests;
    expect(await relayers.runPass({}, {}, true)).toEqual([{ open: true, nextPassMs: 1_000 }]);
    expect([await relayers.states(), nodeUse.requests - asked]).toEqual([['SENT'], 1]);
    await relayers.sandbox.mine();
    await relayers.finish({}, {}, true);
    expect(outcomes).toMatchObject([{ result: 'SUCCEEDED' }]);
  });
});

describe('requests to the node, from the preparation to the stored outcome, once the service runs', () => {
  const requestsOf = async (work: () => Promise<unknown>) => {
    const before = nodeUse.requests;
    await work();
    await relayers.finish({}, {}, true);
    return nodeUse.requests - before;
  };

  it('of a sponsored transfer are four at most, those of a wallet five', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const transfer = async () =>
      sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    const wallet = async () => sponsor.sponsor(await newWallet().prepared(sponsor, [], { deploy: true }), nothing);
    await requestsOf(transfer);
    expect(await requestsOf(transfer)).toBeLessThanOrEqual(4);
    expect(await requestsOf(wallet)).toBeLessThanOrEqual(5);
    expect(await relayers.states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
  });

  it('of many transfers are two each, and four for all of them together', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const asked = await Promise.all(
      Array.from({ length: 12 }, () => payer.prepared(sponsor, [transferCall('USDC', bob, 1n)])),
    );
    const first = asked.pop();
    if (first) await requestsOf(() => sponsor.sponsor(first, nothing));
    const requests = await requestsOf(async () => {
      for (const each of asked) await sponsor.sponsor(each, nothing);
    });
    expect(requests).toBeLessThanOrEqual(2 * asked.length + 4);
    expect(await relayers.balance(bob)).toBe(12n);
  });
});

describe('a transaction that the chain reverts', () => {
  it('ends as reverted, with the reason, and is not tried again', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, outcomes } = relayers;
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    await relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
    const answer = await sponsor.sponsor(asked, nothing);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['REVERTED']);
    expect(outcomes).toMatchObject([{ result: 'REVERTED', revertReason: expect.stringContaining('out of luck') }]);
    expect(await sponsor.sponsor(asked, nothing)).toEqual(answer);
    await relayers.finish();
    expect(await relayers.balance(bob)).toBe(0n);
  });
});

describe('when no node answers before anything is stored', () => {
  it('the caller hears so, and nothing is left behind', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    await relayers.sandbox.fault({ kind: 'unavailable', method: 'starknet_estimateFee' });
    await expect(sponsor.sponsor(asked, nothing)).rejects.toThrow(ChainUnavailableError);
    expect(await relayers.states()).toEqual([]);
  });
});

describe('when the receipt of one relay cannot be read', () => {
  it('the others end all the same', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, chain } = relayers;
    const { hash } = await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]), nothing);
    const unreadable = async (of: bigint) => (of === hash ? Promise.reject(new Error('nonsense')) : chain.receipt(of));
    await relayers.runPass({ receipt: unreadable });
    expect(await relayers.states()).toEqual(['SENT', 'SUCCEEDED']);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  });
});

describe('when a contract chooses odd words for its revert', () => {
  it('they are stored as far as they can be, the innermost first', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, chain, outcomes } = relayers;
    await relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
    const { id } = await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    const revertReason = `${'x'.repeat(100_000)}\0 out of\ud800 luck`;
    const receipt = async (hash: bigint) => {
      const found = await chain.receipt(hash);
      return found && { ...found, revertReason };
    };
    await relayers.runPass({ receipt });
    const kept = (await findRelay(relayers.db.reads, id))?.revertReason;
    expect(kept).toMatch(/^…x+ out of\ufffd luck$/);
    expect(kept).toHaveLength(2_000);
    expect(outcomes).toMatchObject([{ result: 'REVERTED', revertReason: kept }]);
  });
});

describe('when the outcome of a relay cannot be recorded', () => {
  const failing = () => ({ ...relayers.deps.outcomes, calls: () => Promise.reject(new Error('no transfers')) });

  it('it stays open until it can be', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    await relayers.runPass({}, { outcomes: failing() });
    expect(await relayers.states()).toEqual(['SENT']);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
  });

  it('it is retried, and logged, less and less often, at most once a minute', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, warnings } = relayers;
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    const delays: number[] = [];
    for (let tries = 0; tries < 9; tries += 1) {
      const [pass] = await relayers.runPass({}, { outcomes: failing() });
      delays.push(pass?.nextPassMs ?? 0);
      relayers.clock.advance(pass?.nextPassMs ?? 0);
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000));
    await relayers.runPass({}, { outcomes: failing() });
    // Before its time it is left alone.
    await relayers.runPass({}, { outcomes: failing() });
    expect(warnings).toEqual(Array(10).fill('relay outcome not recorded, retrying'));
    relayers.clock.advance(60_000);
    await relayers.runPass();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
  });

  it('the other relays of its account end all the same, and their budget is exact', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, deps } = relayers;
    const first = await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]), nothing);
    const calls: OutcomeHandler = async (tx, outcome) => {
      if (outcome.relayId === first.id) throw new Error('no transfers');
      await deps.outcomes.calls(tx, outcome);
    };
    await relayers.runPass({}, { outcomes: { ...deps.outcomes, calls } });
    expect(await relayers.states()).toEqual(['SENT', 'SUCCEEDED']);
    expect(await usedBudget()).toEqual(await heldByRelays());
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(await usedBudget()).toEqual(await heldByRelays());
  });
});

describe('relays that end together', () => {
  it('are told of one by one, and cost their budget what the chain took', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, outcomes } = relayers;
    const all = await Promise.all(
      [1n, 2n, 3n].map((amount) => payer.prepared(sponsor, [transferCall('USDC', bob, amount)])),
    );
    const relayed = await Promise.all(all.map((asked) => sponsor.sponsor(asked, nothing)));
    await relayers.finish();
    expect(outcomes.map(({ relayId }) => relayId).toSorted()).toEqual(relayed.map(({ id }) => id).toSorted());
    const receipts = await Promise.all(relayed.map(({ hash }) => relayers.chain.receipt(hash)));
    const fri = receipts.reduce((sum, receipt) => sum + (receipt?.fee ?? 0n), 0n);
    expect(await usedBudget()).toEqual({ fri: String(fri), transactions: 3 });
    expect(await heldByRelays()).toEqual({ fri: String(fri), transactions: 3 });
  });
});

const usedBudget = () =>
  relayers.db.one(sql`
    select day.fri::text, day.transactions from sponsored_days as day join sponsored_user_days as own
     using (organization_id, environment, day, fri, transactions)`);

const heldByRelays = () =>
  relayers.db.one(sql`
    select sum(budget_fri)::text as fri, sum(budget_transactions)::integer as transactions from relays`);
