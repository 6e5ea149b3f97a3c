import { solveProof } from '@svc/sdk';
import { sql } from '@svc/store';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { useDatabase } from '../../testing/database.ts';
import { codeLookup, testProofs } from '../../testing/gifts.ts';
import { deleteEndedWindows } from '../http/limits.ts';
import { CodeLookup, deleteExpiredProofs } from './code-lookup.ts';

const ledger = useDatabase();
const KNOWN = sql`select 'gift_1' as id, 5::bigint as amount`;
const UNKNOWN = sql`select 'gift_1' as id, 5::bigint as amount where false`;
const refused = { code: 'rate_limited', status: 429 };

let clients = 0;
/** Each in networks of its own. */
const newClient = () => `203.${clients++}.113.7`;
const MANY = 1_000_000;
const lookup = (limit = 3, now?: () => number) => codeLookup(ledger.db(), { perClient: limit, total: MANY }, now);

/** Turns the window's start back instead of waiting for a minute. */
const endWindow = (client: string) =>
  ledger.db().run(sql`
    update rate_windows set started_at = started_at - interval '60 seconds' where key_id = ${`codes ${client}`}`);

async function guess(codes: CodeLookup, client: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) expect(await codes.find({ client }, UNKNOWN)).toBeUndefined();
}

describe('looking up a code', () => {
  it('answers what was found, with its exact values', async () => {
    expect(await lookup().find({ client: newClient() }, KNOWN)).toMatchObject({ id: 'gift_1', amount: 5n });
  });

  it('counts unknown codes alone', async () => {
    const [codes, client] = [lookup(1), newClient()];
    for (let i = 0; i < 20; i++) expect(await codes.find({ client }, KNOWN)).toMatchObject({ id: 'gift_1' });
    await guess(codes, client, 1);
  });

  it('is refused for any code once the unknown ones are used up, and says for how long', async () => {
    const [codes, client] = [lookup(), newClient()];
    await guess(codes, client, 3);
    for (const query of [KNOWN, UNKNOWN, KNOWN]) {
      const error: { retryAfterSeconds?: number } = await codes.find({ client }, query).then(
        () => ({}),
        (reason) => reason,
      );
      expect(error).toMatchObject(refused);
      expect(error.retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(error.retryAfterSeconds).toBeLessThanOrEqual(60);
    }
  });

  it('is counted for each client, and for all replicas together', async () => {
    const [one, other, client] = [lookup(), lookup(), newClient()];
    await guess(one, client, 2);
    await guess(other, client, 1);
    await expect(one.find({ client }, KNOWN)).rejects.toMatchObject(refused);
    await expect(other.find({ client }, KNOWN)).rejects.toMatchObject(refused);
    expect(await one.find({ client: newClient() }, KNOWN)).toBeDefined();
  });

  it('opens again a minute after the first', async () => {
    let now = 0;
    const [codes, client] = [lookup(3, () => now), newClient()];
    await guess(codes, client, 3);
    await expect(codes.find({ client }, KNOWN)).rejects.toMatchObject(refused);
    now = 60_001;
    await expect(lookup().find({ client }, KNOWN)).rejects.toMatchObject(refused);
    await endWindow(client);
    expect(await codes.find({ client }, KNOWN)).toBeDefined();
    await guess(codes, client, 3);
  });

  it('asks the database no more for a client that was refused', async () => {
    const [codes, client] = [lookup(1), newClient()];
    await guess(codes, client, 1);
    await expect(codes.find({ client }, KNOWN)).rejects.toMatchObject(refused);
    await expect(codes.find({ client }, sql`select nonsense`)).rejects.toMatchObject(refused);
  });

  it('tells a burst no more than the limit, hits among it or not', async () => {
    const [codes, client] = [[lookup(10), lookup(10)] as const, newClient()];
    const answers = await Promise.allSettled(
      Array.from({ length: 60 }, (_, i) => (codes[i % 2 === 0 ? 0 : 1] as CodeLookup).find({ client }, UNKNOWN)),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    await expect(codes[0].find({ client }, KNOWN)).rejects.toMatchObject(refused);
  });

  it('leaves nothing behind once its minute is over', async () => {
    const client = newClient();
    await guess(lookup(), client, 1);
    await endWindow(client);
    expect(await deleteEndedWindows(ledger.db())).toBeGreaterThanOrEqual(1);
    const key = `codes ${client}`;
    expect(await ledger.db().rows(sql`select from rate_windows where key_id = ${key}`)).toEqual([]);
  });
});

describe('unknown codes of many clients', () => {
  const needsProof = { code: 'proof_of_work_required', status: 429, retryAfterSeconds: expect.any(Number) };
  const badProof = { code: 'invalid_proof_of_work', status: 400 };
  const proof = () => solveProof(testProofs.issue());
  const within = (perClient: number, total = MANY, now?: () => number) =>
    codeLookup(ledger.db(), { perClient, total }, now);
  const endAll = () => ledger.db().run(sql`update rate_windows set started_at = started_at - interval '60 seconds'`);

  beforeEach(async () => void (await ledger.db().run(sql`delete from rate_windows`)));

  it.each([
    ['IPv4 /24', (index: number) => `198.51.100.${index}`, '198.51.100.200', '198.51.101.1', 10],
    ['IPv4 /16', (index: number) => `198.51.${index}.1`, '198.51.200.1', '198.52.0.1', 30],
    ['IPv6 /48', (index: number) => `2001:db8:1:${index}::/64`, '2001:db8:1:ff::/64', '2001:db8:2:0::/64', 10],
    ['IPv6 /32', (index: number) => `2001:db8:${index}:0::/64`, '2001:db8:ff:0::/64', '2001:db9:1:0::/64', 30],
  ])('of a network need proofs in that network alone: %s', async (_, clientOf, inside, outside, size) => {
    const codes = within(1);
    for (let index = 0; index < size; index++) await guess(codes, clientOf(index), 1);
    for (const query of [KNOWN, UNKNOWN]) {
      await expect(codes.find({ client: inside }, query)).rejects.toMatchObject(needsProof);
      await expect(within(1).find({ client: inside }, query)).rejects.toMatchObject(needsProof);
    }
    expect(await codes.find({ client: inside, proofOfWork: await proof() }, KNOWN)).toBeDefined();
    expect(await codes.find({ client: outside }, KNOWN)).toBeDefined();
  });

  it('in total need proofs everywhere, on every replica, and holders of valid codes get through', async () => {
    const [one, other] = [within(10, 5), within(10, 5)];
    for (let i = 0; i < 5; i++) await guess(i % 2 === 0 ? one : other, newClient(), 1);
    for (const codes of [one, other]) {
      await expect(codes.find({ client: newClient() }, KNOWN)).rejects.toMatchObject(needsProof);
      const visitor = { client: newClient(), proofOfWork: await proof() };
      expect(await codes.find(visitor, KNOWN)).toMatchObject({ id: 'gift_1' });
      expect(await codes.find({ client: newClient(), proofOfWork: await proof() }, UNKNOWN)).toBeUndefined();
    }
  });

  it('use a proof up with one look-up, on any replica and at the same moment too', async () => {
    const codes = [within(10, 1), within(10, 1)] as const;
    await guess(codes[0], newClient(), 1);
    const solved = await proof();
    const answers = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) =>
        codes[i % 2 === 0 ? 0 : 1].find({ client: newClient(), proofOfWork: solved }, KNOWN),
      ),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(codes[1].find({ client: newClient(), proofOfWork: solved }, KNOWN)).rejects.toMatchObject(badProof);
  });

  it('take no wrong proof', async () => {
    const codes = within(10, 1);
    await guess(codes, newClient(), 1);
    await expect(codes.find({ client: newClient(), proofOfWork: 'nonsense' }, KNOWN)).rejects.toMatchObject(badProof);
  });

  it('do not let a client exceed its own limit, with proofs or not', async () => {
    const [codes, client] = [within(2, 1), newClient()];
    await guess(codes, newClient(), 1);
    for (let i = 0; i < 2; i++)
      expect(await codes.find({ client, proofOfWork: await proof() }, UNKNOWN)).toBeUndefined();
    await expect(codes.find({ client, proofOfWork: await proof() }, KNOWN)).rejects.toMatchObject(refused);
  });

  it('leave a proof unused while none is needed', async () => {
    const [codes, solved] = [within(10, 1), await proof()];
    expect(await codes.find({ client: newClient(), proofOfWork: solved }, KNOWN)).toBeDefined();
    await guess(codes, newClient(), 1);
    expect(await codes.find({ client: newClient(), proofOfWork: solved }, KNOWN)).toBeDefined();
  });

  it('need no proof for a redeem, whose id cannot be guessed', async () => {
    const codes = within(10, 1);
    await guess(codes, newClient(), 1);
    await expect(codes.find({ client: newClient() }, KNOWN)).rejects.toMatchObject(needsProof);
    expect(await codes.findUnguessable(newClient(), KNOWN)).toBeDefined();
  });

  it('need no proof any more when their minute is over', async () => {
    let now = 0;
    const codes = within(10, 1, () => now);
    await guess(codes, newClient(), 1);
    await expect(codes.find({ client: newClient() }, KNOWN)).rejects.toMatchObject(needsProof);
    now = 60_001;
    await endAll();
    expect(await codes.find({ client: newClient() }, KNOWN)).toBeDefined();
  });

  it('ask the database no more once a proof is known to be missing', async () => {
    const codes = within(10, 1);
    await guess(codes, newClient(), 1);
    await expect(codes.find({ client: newClient() }, KNOWN)).rejects.toMatchObject(needsProof);
    await expect(codes.find({ client: newClient() }, sql`select nonsense`)).rejects.toMatchObject(needsProof);
  });

  it('are counted in a metric and logged, the limit once, and never with the code', async () => {
    const log = { info: vi.fn(), warn: vi.fn() };
    const limits = { perClient: 10, total: 2 };
    const codes = new CodeLookup({ db: ledger.db(), limits, proofs: testProofs, log });
    const client = newClient();
    await guess(codes, client, 2);
    for (let i = 0; i < 3; i++) await expect(codes.find({ client }, KNOWN)).rejects.toMatchObject(needsProof);
    await codes.find({ client, proofOfWork: await proof() }, KNOWN);
    expect(log.info.mock.calls).toEqual([
      [{ client, misses: 1 }, 'unknown gift code'],
      [{ client, misses: 2 }, 'unknown gift code'],
    ]);
    expect(log.warn).toHaveBeenCalledExactlyOnceWith(
      { counter: 'codes of all' },
      'unknown gift codes at their limit, proof of work required',
    );
    const values = await Promise.all(codes.gauges().map(async ({ name, read }) => [name, (await read())[0]?.value]));
    expect(values).toEqual([
      ['svc_claim_misses', 2],
      ['svc_claim_proofs', 1],
    ]);
  });

  it('leave no used proofs behind', async () => {
    const codes = within(10, 1);
    await guess(codes, newClient(), 1);
    await codes.find({ client: newClient(), proofOfWork: await proof() }, KNOWN);
    await ledger.db().run(sql`update used_proofs set expires_at = now() - interval '2 minutes'`);
    await deleteExpiredProofs(ledger.db());
    expect(await ledger.db().rows(sql`select from used_proofs`)).toEqual([]);
  });
});
