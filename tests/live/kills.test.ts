import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import { Owner, transferOf } from '../support/app.ts';
import { auditRelays, settled } from '../support/audit.ts';
import { eventually } from '../support/eventually.ts';
import { openDatabaseProxy, pick, random, seedCount } from '../support/faults.ts';
import { USDC } from '../support/starknet-client.ts';
import { blockModes } from './support/devnet.ts';
import { LiveService } from './support/live-service.ts';

const KILLS = seedCount(12);
const EACH_MS = 60_000;
const SETTLE_MS = 300_000;
/** A request and its jobs send about as often to the database; with fewer the process is killed afterwards. */
const STEPS = 60;
const kinds = ['create', 'execute', 'redeem'] as const;

interface Attempt {
  readonly path: string;
  readonly body: object;
  readonly headers: Record<string, string>;
}

interface Killed {
  readonly seed: number;
  readonly kind: (typeof kinds)[number];
  readonly attempt: Attempt;
  readonly owner: Owner;
  readonly user: string;
  /** Whether the client repeats its request at the survivor. */
  readonly asksAgain: boolean;
}

describe.each(blockModes)('with %s', (_, blocks) => {
  let live: LiveService;
  let payer: Owner;
  let code: string;
  beforeAll(async () => {
    live = await LiveService.start(blocks);
    payer = await live.wallet({ usdc: '1000' });
    ({ code } = await live.app.gift({ amount: 1.5, maxRedeems: 10 * KILLS, maxRedeemsPerUser: 5 }));
  });
  afterAll(() => live?.stop());

  /** Prepared at the survivor, so that the victim does the relevant step alone. */
  async function prepare(kind: Killed['kind'], owner: Owner, user: string, amount: bigint): Promise<Attempt> {
    const { app } = live;
    if (kind === 'create') return { path: '/svc-wallets', body: await app.creation(owner, user), headers: {} };
    if (kind === 'redeem') {
      const body = { walletAddress: owner.address, chain: 'starknet' };
      return { path: `/gifts/claim/${code}/redeem`, body, headers: { 'idempotency-key': user } };
    }
    const typedData = await app.prepare(payer.address, [transferOf(USDC, owner.address, amount)]);
    const body = { publicKey: payer.address, typedData, userSignature: payer.sign(typedData) };
    return { path: '/transactions/execute-sponsored-transaction', body, headers: {} };
  }

  async function killOne(seed: number): Promise<Killed> {
    const next = random(seed);
    const kind = kinds[seed % kinds.length] ?? 'execute';
    const [owner, user] = [new Owner(), live.newUser()];
    const attempt = await prepare(kind, owner, user, BigInt(seed + 1));
    const proxy = await openDatabaseProxy(live.service.databaseUrl);
    const role = pick(next, ['api', 'all']);
    const victim = await live.service.another({ DATABASE_URL: proxy.url, SVC_ROLE: role });
    const when = pick(next, ['before', 'after'] as const);
    proxy.cutAfter(1 + Math.floor(next() * STEPS), when, () => victim.process.kill('SIGKILL'));
    await live.app
      .at(victim)
      .post(attempt.path, attempt.body, attempt.headers)
      .catch(() => undefined);
    await victim.end('SIGKILL');
    proxy.close();
    return { seed, kind, attempt, owner, user, asksAgain: next() < 0.5 };
  }

  /** All of it, once, or nothing, and the records say so. */
  async function expectTruth({ seed, kind, owner, user, asksAgain }: Killed): Promise<void> {
    const paid = await live.app.balance(owner.address, 'USDC');
    if (kind === 'create') {
      const { body } = await live.app.get(`/svc-wallets/by-user?externalUserId=${encodeURIComponent(user)}`);
      const { isDeployed = false } = body as { isDeployed?: boolean };
      const isThere = (await live.classAt(owner.address)) !== undefined;
      expect({ seed, isDeployed }).toEqual({ seed, isDeployed: isThere });
      if (asksAgain) expect({ seed, isDeployed }).toEqual({ seed, isDeployed: true });
      return;
    }
    const rows =
      kind === 'redeem'
        ? await live.service.db.rows<{ status: string }>(
            sql`select status from gift_redeems where address = ${padded(owner)}`,
          )
        : await live.service.db.rows<{ status: string }>(
            sql`select status from transactions where amount = ${BigInt(seed + 1)} and type = 'SEND'`,
          );
    const amount = kind === 'redeem' ? 1_500_000n : BigInt(seed + 1);
    const isMade = asksAgain || rows.length > 0;
    expect({ seed, kind, rows, paid }).toEqual(
      isMade ? { seed, kind, rows: [{ status: 'SUCCESS' }], paid: amount } : { seed, kind, rows: [], paid: 0n },
    );
  }

  it(
    `a process that is killed leaves one effect or none, and records that tell the truth: ${KILLS} kills`,
    async () => {
      const killed: Killed[] = [];
      for (let seed = 0; seed < KILLS; seed += 1) killed.push(await killOne(seed));
      // In place of waiting for the claims of dead requests to expire.
      await live.service.db.run(sql`update idempotency_keys set leased_until = now() - interval '1 second'`);
      for (const { attempt, asksAgain } of killed) {
        if (!asksAgain) continue;
        const { status, text } = await live.app.post(attempt.path, attempt.body, attempt.headers);
        expect([200, 201], text).toContain(status);
      }
      const open = () =>
        live.service.db.rows(sql`select id, status from gift_redeems where status not in ('SUCCESS', 'FAILED')`);
      await eventually(open, (rows) => rows.length === 0, SETTLE_MS);
      await settled(live.service.db, SETTLE_MS);
      for (const one of killed) await expectTruth(one);
      await auditRelays(live.service.db, live.devnet);
      expect(await findBrokenInvariants(live.service.db)).toEqual([]);
    },
    SETTLE_MS + KILLS * EACH_MS,
  );
});

const padded = ({ address }: Owner) => `0x${BigInt(address).toString(16).padStart(64, '0')}`;
