import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relayer, signedPayment, transferCall } from '../../../testing/chain.ts';
import { RelayerFixture } from '../../../testing/relayer.ts';
import { padAddress } from '../../chains/starknet/chain.ts';
import { takeNonces } from '../accounts.ts';
import { findRelay, findRelayByHash, reopenRelays } from '../relay-store.ts';

const nothing = async () => {};
const cutOff = { send: async () => ({ outcome: 'unknown', reason: 'cut off' }) as const };
const MINUTE_MS = 60_000;
const UNIDENTIFIED = 'relay executed by a third party, transaction not identified';

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start();
});
afterAll(() => relayers.stop());

/** A transfer that was stored, not sent, and executed by a third party. */
async function overtaken() {
  const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
  const sponsor = relayers.sponsorWith({ pause: nothing }, cutOff);
  const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
  await expect(sponsor.sponsor(asked, nothing)).rejects.toMatchObject({ code: 'chain_unavailable' });
  return { payer, bob, asked, other: await relayers.executeByThirdParty(asked) };
}

async function onlyRelay() {
  const row = await relayers.db.one<{ id: string }>(sql`select id from relays`);
  return findRelay(relayers.db.reads, row?.id ?? '');
}

/** A transfer that the chain reverts for a reason of its own. */
async function reverted() {
  const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
  const { sponsor } = relayers;
  const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
  await relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
  await sponsor.sponsor(asked, nothing);
  await relayers.finish();
  expect(await relayers.states()).toEqual(['REVERTED']);
  return { payer, bob, asked };
}

describe('a relay that a third party executes first', () => {
  it('has succeeded, in their transaction, although ours reverts', async () => {
    const { bob, other, asked } = await overtaken();
    await relayers.finish();
    expect(relayers.outcomes).toMatchObject([
      { result: 'SUCCEEDED', hash: other, receipt: { transactionHash: other } },
    ]);
    const receipt = await relayers.chain.receipt(other);
    const relay = await onlyRelay();
    expect(relay).toMatchObject({ state: 'SUCCEEDED', hash: other, blockHash: receipt?.blockHash });
    expect(await findRelayByHash(relayers.db.reads, relayers.chain.chainId, other)).toEqual(relay);
    expect(await relayers.balance(bob)).toBe(7n);
    expect(await relayers.sponsor.sponsor(asked, nothing)).toMatchObject({ hash: other });
  });

  it('has succeeded also when its nonce was used for something else', async () => {
    const { other } = await overtaken();
    expect(await relayers.chain.send(signedPayment(await relayers.nonce()))).toEqual({ outcome: 'sent' });
    await relayers.runPass();
    relayers.clock.advance(5 * MINUTE_MS);
    await relayers.runPass();
    expect(relayers.outcomes).toMatchObject([{ result: 'SUCCEEDED', hash: other }]);
  });

  it('has succeeded also when its time was over before we could send', async () => {
    const { other } = await overtaken();
    await relayers.sandbox.travel(3_600);
    await relayers.finish();
    expect(relayers.outcomes).toMatchObject([{ result: 'SUCCEEDED', hash: other }]);
  });

  it('gives its nonce back when a reorganisation takes only our own transaction away', async () => {
    const { payer, bob } = await overtaken();
    await relayers.finish();
    const head = await relayers.chain.blockNumber();
    await relayers.sandbox.reorganise(1, 'drop');
    await relayers.db.tx((tx) => reopenRelays(tx, relayers.chain.chainId, head - 1));
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
    const { sponsor } = relayers;
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]), nothing);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(await relayers.balance(bob)).toBe(8n);
  });
});

describe('a relay whose foreign transaction is not identified', () => {
  const blind = { events: async () => ({ events: [], continuation: undefined }) };

  it('stays open with an error in the log, is searched once a minute, and is found in the end', async () => {
    const { other } = await overtaken();
    let searches = 0;
    const counting = {
      events: () => {
        searches += 1;
        return blind.events();
      },
    };
    await relayers.runPass();
    for (let looks = 0; looks < 5; looks += 1) await relayers.runPass(counting);
    expect([await relayers.states(), relayers.outcomes]).toEqual([['SENT'], []]);
    expect(relayers.warnings).toContain(UNIDENTIFIED);
    const once = searches;
    expect(once).toBeGreaterThan(0);
    relayers.clock.advance(MINUTE_MS + 1);
    await relayers.runPass(counting);
    expect(searches).toBe(2 * once);
    relayers.clock.advance(MINUTE_MS + 1);
    await relayers.runPass();
    expect(relayers.outcomes).toMatchObject([{ result: 'SUCCEEDED', hash: other }]);
  });

  it('does not count as work of its account, which could not take more otherwise', async () => {
    await overtaken();
    await relayers.runPass();
    await relayers.runPass(blind);
    await relayers.db.run(sql`update relayer_accounts set next_nonce = next_nonce + 5000`);
    const taken = await relayers.db.tx((tx) =>
      takeNonces(tx, relayers.chain.chainId, [padAddress(relayer(1).address)], 1n),
    );
    expect(taken).toBeDefined();
  });
});

describe('a relay that counts as lost', () => {
  it('succeeds after all when a third party executes it later', async () => {
    const { bob, asked } = await reverted();
    await relayers.recheckUnexecuted();
    expect(await relayers.states()).toEqual(['REVERTED']);
    const other = await relayers.executeByThirdParty(asked);
    await relayers.recheckUnexecuted();
    await relayers.finish();
    expect(relayers.outcomes).toMatchObject([{ result: 'REVERTED' }, { result: 'SUCCEEDED', hash: other }]);
    expect(await relayers.balance(bob)).toBe(7n);
  });

  it('succeeds after all when its own transaction shows up', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const { hash } = await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    const unknown = { status: 'NOT_RECEIVED', accepted: false, revertReason: undefined } as const;
    const behind = {
      receipt: async () => undefined,
      transactionStatus: async () => unknown,
      call: async () => ({ ok: true, felts: [1n] }) as const,
    };
    await relayers.runPass(behind);
    relayers.clock.advance(5 * MINUTE_MS);
    await relayers.runPass(behind);
    expect(await relayers.states()).toEqual(['VOIDED']);
    await relayers.recheckUnexecuted();
    await relayers.finish();
    expect(relayers.outcomes).toMatchObject([{ result: 'VOIDED' }, { result: 'SUCCEEDED', hash }]);
  });

  it('is asked about with one question a look, and no longer once its time is over', async () => {
    await reverted();
    let asked = 0;
    const counting = {
      call: async () => {
        asked += 1;
        return { ok: true, felts: [1n] } as const;
      },
    };
    await relayers.recheckUnexecuted(counting);
    expect(asked).toBe(1);
    relayers.clock.advance(61 * MINUTE_MS);
    await relayers.recheckUnexecuted(counting);
    expect(asked).toBe(2);
    relayers.clock.advance(3 * MINUTE_MS);
    await relayers.recheckUnexecuted(counting);
    expect(asked).toBe(2);
  });

  it('stays so while its wallet cannot be asked', async () => {
    await reverted();
    await relayers.recheckUnexecuted({ call: () => Promise.reject(new Error('gone')) });
    expect(await relayers.states()).toEqual(['REVERTED']);
    expect(relayers.warnings).toContain('wallet not readable, relay recheck skipped');
  });

  it('is believed to be so where the wallet does not tell what it has executed', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    await relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
    await sponsor.sponsor(asked, nothing);
    await relayers.runPass({ call: async () => ({ ok: false, code: 21, reason: 'no such entrypoint' }) as const });
    expect(await relayers.states()).toEqual(['REVERTED']);
  });
});
