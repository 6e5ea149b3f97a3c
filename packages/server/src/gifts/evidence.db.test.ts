import { ApiError, type endpoints } from '@svc/protocol';
import { sql } from '@svc/store';
import { expect, it } from 'vitest';
import { NOW, PUBLIC_URL, useGifts } from '../../testing/gifts.ts';
import { listChanges } from '../audit-log.ts';
import type { Call, Caller } from '../http/call.ts';
import { addFacts } from './bridge-redeem.ts';
import {
  EvidenceLinks,
  getRedeemEvidence,
  getSharedEvidence,
  revokeEvidenceLinks,
  shareRedeemEvidence,
} from './evidence.ts';
import { endRedeems, type RedeemEnd } from './redeem.ts';

const fixture = useGifts();
const links = new EvidenceLinks(Buffer.alloc(32, 7));
const PAID_AT = new Date(NOW + 5_000);
const DAY_MS = 86_400_000;

const end = (ended: RedeemEnd) => fixture.db.tx((tx) => endRedeems(tx, [ended]));

async function redeemOn(chain: 'starknet' | 'solana'): Promise<{ caller: Caller; id: string }> {
  const caller = await fixture.caller();
  const gift = await fixture.create(caller, { name: 'Reyes', amount: 5 });
  return { caller, id: await fixture.redeem(caller, gift.id, chain) };
}

function share(caller: Caller, id: string, body = {}) {
  const call = { caller, params: { id }, body, transact: fixture.db.tx };
  const deps = { publicUrl: PUBLIC_URL, links, now: () => NOW };
  return shareRedeemEvidence(deps, call as unknown as Call<typeof endpoints.shareRedeemEvidence>) as Promise<{
    url: string;
    token: string;
    expiresAt: string;
  }>;
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );

it('shows a payout on Starknet from its reservation to the time of its block', async () => {
  const { caller, id } = await redeemOn('starknet');
  const waiting = await getRedeemEvidence(fixture.db, caller, id);
  expect(waiting).toMatchObject({ giftName: 'Reyes', amount: '5', feeUsd: 0.01, bridgeFee: null, status: 'PENDING' });
  expect(waiting.steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'RESERVED DONE',
    'SENT WAITING',
    'PAID WAITING',
  ]);
  await end({ id, end: 'SUCCESS', transactionHash: '0xabc', at: PAID_AT });
  const { status, steps } = await getRedeemEvidence(fixture.db, caller, id);
  expect(status).toBe('SUCCESS');
  expect(steps[2]).toEqual({
    name: 'PAID',
    state: 'DONE',
    chain: 'starknet',
    hash: '0xabc',
    at: PAID_AT.toISOString(),
  });
});

it('shows burn, attestation and mint on the way to Solana, each with its hash and time', async () => {
  const { caller, id } = await redeemOn('solana');
  await fixture.db.run(sql`update gift_redeems set status = 'BRIDGING', transaction_hash = '0xb' where id = ${id}`);
  const burnedAt = new Date(NOW).toISOString();
  const attestedAt = new Date(NOW + 1_000).toISOString();
  await fixture.db.tx((tx) => addFacts(tx, id, { burnedAt }));
  expect((await getRedeemEvidence(fixture.db, caller, id)).steps.map(({ state }) => state)).toEqual([
    'DONE',
    'DONE',
    'WAITING',
    'WAITING',
  ]);
  await fixture.db.tx((tx) => addFacts(tx, id, { message: '0x1', nonce: '0x22', attestedAt, feeExecuted: '651' }));
  await fixture.db.run(sql`update gift_redeems set status = 'ATTESTED' where id = ${id}`);
  await end({ id, end: 'SUCCESS', receiveHash: 'minted' });
  const evidence = await getRedeemEvidence(fixture.db, caller, id);
  expect(evidence).toMatchObject({ bridgeFee: '0.000651', destinationChain: 'solana' });
  expect(evidence.steps).toMatchObject([
    { name: 'RESERVED' },
    { name: 'BURNED', chain: 'starknet', hash: '0xb', at: burnedAt, state: 'DONE' },
    { name: 'ATTESTED', chain: null, hash: '0x22', at: attestedAt, state: 'DONE' },
    { name: 'MINTED', chain: 'solana', hash: 'minted', at: expect.any(String), state: 'DONE' },
  ]);
});

it('shows no step before the one that caused it, although blocks count whole seconds', async () => {
  const { caller, id } = await redeemOn('solana');
  const [reserved] = (await getRedeemEvidence(fixture.db, caller, id)).steps;
  const reservedAt = new Date(reserved?.at ?? 0);
  const burnedAt = new Date(reservedAt.getTime() - 400).toISOString();
  await fixture.db.tx((tx) => addFacts(tx, id, { burnedAt }));
  const { steps } = await getRedeemEvidence(fixture.db, caller, id);
  expect(steps.map(({ at }) => at)).toEqual([reservedAt.toISOString(), reservedAt.toISOString(), null, null]);
});

it('ends with the step that failed', async () => {
  const { caller, id } = await redeemOn('solana');
  await end({ id, end: 'FAILED', reason: 'The manager holds 3 units.' });
  const evidence = await getRedeemEvidence(fixture.db, caller, id);
  expect(evidence.steps).toMatchObject([{ name: 'RESERVED' }, { name: 'BURNED', state: 'FAILED' }]);
  expect(JSON.stringify(evidence)).not.toContain('manager');
});

it("answers another organisation's redeem like a missing one, and does not share it", async () => {
  const { id } = await redeemOn('starknet');
  const other = await fixture.caller();
  for (const unknown of [id, 'rdm_none']) {
    expect(await refusal(getRedeemEvidence(fixture.db, other, unknown))).toBe('redeem_not_found');
    expect(await refusal(share(other, unknown))).toBe('redeem_not_found');
  }
});

it('is read by a shared link until the link expires, without the code, fees or ids of the gift', async () => {
  const { caller, id } = await redeemOn('starknet');
  const { url, token, expiresAt } = await share(caller, id, { expiresInDays: 2 });
  expect(url).toBe(`${PUBLIC_URL}/dashboard/evidence/${token}`);
  expect(expiresAt).toBe(new Date(NOW + 2 * DAY_MS).toISOString());
  const read = (text: string, nowMs = NOW) => getSharedEvidence(fixture.db, { links, now: () => nowMs }, text);
  const shared = await read(token, NOW + 2 * DAY_MS - 1);
  expect(Object.keys(shared).sort()).toEqual(
    'amount bridgeFee createdAt destinationChain environment giftName id orgName receiveProof status steps updatedAt walletAddress'.split(
      ' ',
    ),
  );
  expect(await refusal(read(token, NOW + 2 * DAY_MS))).toBe('evidence_not_found');
  const [audited] = (await listChanges(fixture.db, caller, { limit: 1, offset: 0 })).entries;
  expect(audited).toMatchObject({ action: 'redeem.evidence-shared', target: id, changes: { expiresAt } });
});

it('is not read by a link that was made up, changed or made with another key', async () => {
  const { id } = await redeemOn('starknet');
  const { id: other } = await redeemOn('starknet');
  const expires = NOW / 1_000 + 60;
  const token = links.tokenFor(id, expires, 0);
  const [, time, number, mac] = token.split('.');
  const forged = [
    `${other}.${time}.${number}.${mac}`,
    `${id}.${(expires + 1).toString(36)}.${number}.${mac}`,
    `${id}.${time}.1.${mac}`,
    `${id}.${time}.${number}.${'A'.repeat(22)}`,
    new EvidenceLinks(Buffer.alloc(32, 8)).tokenFor(id, expires, 0),
    links.tokenFor('rdm_00000000000000000000000000', expires, 0),
    id,
    '',
  ];
  expect(links.read(token, NOW)).toEqual({ redeemId: id, number: 0 });
  for (const text of forged) {
    expect(await refusal(getSharedEvidence(fixture.db, { links, now: () => NOW }, text))).toBe('evidence_not_found');
  }
});

it('ends all links of a redeem at once, and those of no other organisation', async () => {
  const { caller, id } = await redeemOn('starknet');
  const revoke = (by: Caller) => {
    const call = { caller: by, params: { id }, transact: fixture.db.tx };
    return revokeEvidenceLinks(call as unknown as Call<typeof endpoints.revokeEvidenceLinks>);
  };
  const read = (token: string) => refusal(getSharedEvidence(fixture.db, { links, now: () => NOW }, token));
  const [one, other] = [await share(caller, id), await share(caller, id, { expiresInDays: 7 })];
  expect(await refusal(Promise.resolve(revoke(await fixture.caller())))).toBe('redeem_not_found');
  expect([await read(one.token), await read(other.token)]).toEqual(['none', 'none']);
  await revoke(caller);
  expect([await read(one.token), await read(other.token)]).toEqual(['evidence_not_found', 'evidence_not_found']);
  expect(await read((await share(caller, id)).token)).toBe('none');
  const { entries } = await listChanges(fixture.db, caller, { limit: 2, offset: 0 });
  expect(entries.map(({ action }) => action)).toEqual(['redeem.evidence-shared', 'redeem.evidence-unshared']);
});
