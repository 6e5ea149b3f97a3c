import { once } from 'node:events';
import type { Treasury, TreasuryProposal } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type App, bodyOf, Owner } from '../support/app.ts';
import { auditRelays, settled } from '../support/audit.ts';
import { eventually } from '../support/eventually.ts';
import { openDatabaseProxy, random, type StatementPlace, seedCount, spread } from '../support/faults.ts';
import { TestService } from '../support/service.ts';
import { pathOf, propose, signAs } from '../support/treasuries.ts';

const KILLS = seedCount(4);
const EACH_MS = 60_000;
const SETTLE_MS = 180_000;
const WAIT_LIMIT_MS = 60_000;

let service: TestService;
let treasury: Treasury;
const signers = [new Owner(), new Owner()];
beforeAll(async () => {
  // Without jobs of its own: victims run all of them.
  service = await TestService.hosted({ SVC_ROLE: 'api' });
  const named = signers.map(({ publicKey }) => ({ name: 'Signer', publicKey }));
  const created = await service.app.post('/treasuries', { name: 'Caja', signers: named, threshold: 2 });
  treasury = bodyOf<Treasury>(created, 201);
  await service.sandbox.faucet(treasury.address, 'USDC', '1000');
}, 300_000);
afterAll(() => service.stop());

/** With jobs, until the test is over: left alone it would do the work of the next test's victim. */
async function working() {
  const started = await service.anotherHosted({ SVC_ROLE: 'all' });
  onTestFinished(() => started.stop());
}

let recipients = 0xb0b_0000;

function newPayment() {
  recipients += 1;
  const recipient = `0x${recipients.toString(16)}`;
  return { recipient, transfers: [{ token: 'USDC', recipient, amount: '1' }] };
}

/** READY, to an address of its own. */
async function ready(): Promise<{ proposal: TreasuryProposal; recipient: string }> {
  const { recipient, transfers } = newPayment();
  const proposal = await propose(service.app, treasury, { transfers });
  for (const signer of signers) bodyOf(await signAs(service.app, treasury, proposal, signer), 200);
  return { proposal, recipient };
}

const read = async (proposal: TreasuryProposal) =>
  bodyOf<TreasuryProposal>(await service.app.get(pathOf(proposal)), 200);
const execute = (proposal: TreasuryProposal) => service.app.post(`${pathOf(proposal)}/execute`, {});

/** How often something is sent to the database from the request until the proposal has ended. */
async function countSteps({ proposal }: { proposal: TreasuryProposal }): Promise<number> {
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const whole = await service.anotherHosted({ DATABASE_URL: proxy.url, SVC_ROLE: 'all' });
  const before = proxy.sent();
  await eventually(
    () => service.app.at(whole).post(`${pathOf(proposal)}/execute`, {}),
    ({ status }) => status === 200,
    WAIT_LIMIT_MS,
  );
  await eventually(
    () => read(proposal),
    ({ state }) => state === 'EXECUTED',
    WAIT_LIMIT_MS,
  );
  const steps = proxy.sent() - before;
  await whole.stop();
  proxy.close();
  return steps;
}

async function killOne(seed: number, steps: number) {
  const one = await ready();
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const victim = await service.another({ DATABASE_URL: proxy.url, SVC_ROLE: 'all' });
  const died = once(victim.process, 'exit', { signal: AbortSignal.timeout(WAIT_LIMIT_MS) });
  const places = Array.from({ length: steps }, (_, step) => step + 1);
  const when = random(seed + KILLS)() < 0.5 ? 'before' : 'after';
  proxy.cutAfter(spread(seed, KILLS, places), when, () => victim.process.kill('SIGKILL'));
  await service.app
    .at(victim)
    .post(`${pathOf(one.proposal)}/execute`, {})
    .catch(() => undefined);
  await died;
  proxy.close();
  return one;
}

describe('a process that is killed while it executes a proposal', () => {
  it(
    `leaves it executed once: ${KILLS} seeds`,
    async () => {
      const all = [await ready()];
      const steps = await countSteps(all[0] as (typeof all)[number]);
      for (let seed = 0; seed < KILLS; seed += 1) all.push(await killOne(seed, steps));
      await working();
      for (const { proposal, recipient } of all) {
        // What was not stored is READY still: its caller asks again.
        const { state } = await eventually(
          async () => {
            await execute(proposal).catch(() => undefined);
            return read(proposal);
          },
          (found) => found.state === 'EXECUTED' || found.state === 'FAILED',
          SETTLE_MS,
        );
        expect([state, await service.app.balance(recipient, 'USDC')]).toEqual(['EXECUTED', 1_000_000n]);
      }
      await settled(service.db);
      await auditRelays(service.db, service.sandbox);
    },
    SETTLE_MS + (KILLS + 1) * EACH_MS,
  );
});

type Request = 'propose' | 'sign first' | 'sign last' | 'execute';

interface Step extends StatementPlace {
  readonly name: string;
  /** What a process is asked for when it is killed. */
  readonly request: Request;
}

const steps: readonly Step[] = [
  { name: 'the proposal is stored', request: 'propose', sql: 'insert into treasury_proposals', isCommitted: true },
  { name: 'a signature is stored', request: 'sign first', sql: 'insert into treasury_signatures', isCommitted: true },
  { name: 'it becomes READY', request: 'sign last', sql: 'update treasury_proposals set state', isCommitted: true },
  { name: 'its relay is stored', request: 'execute', sql: 'insert into relays', isCommitted: true },
  {
    name: 'the answer of the node is stored',
    request: 'execute',
    sql: "update relays set state = 'SENT', updated_at",
    isCommitted: false,
  },
  { name: 'its receipt is stored', request: 'execute', sql: 'executed_tx_hash = ', isCommitted: true },
];

const all = steps.flatMap((step) => (['before', 'after'] as const).map((when) => ({ ...step, when })));
const chosen = Math.min(all.length, seedCount(all.length));
/** Every step, or with fewer seeds one of each part. */
const kills = Array.from({ length: chosen }, (_, seed) => spread(seed, chosen, all));

/** The requests of one payment, in order. Each may be repeated. */
function requestsOf(app: App, { transfers, key }: { transfers: readonly object[]; key: string }) {
  const made = () =>
    app.post(`/treasuries/${treasury.id}/transactions`, { transfers }, { 'idempotency-key': key }).then((reply) => {
      return bodyOf<TreasuryProposal>(reply, 201);
    });
  const sign = async (signer: Owner | undefined) => {
    if (signer) bodyOf(await signAs(app, treasury, await made(), signer), 200);
  };
  return {
    propose: made,
    'sign first': () => sign(signers[0]),
    'sign last': () => sign(signers[1]),
    execute: async () => bodyOf(await app.post(`${pathOf(await made())}/execute`, {}), 200),
  } satisfies Record<Request, () => Promise<unknown>>;
}

describe('kill -9 of the process that works on a payment', () => {
  it.each(kills)(
    '$when $name leaves one payment, told of once',
    async ({ request, when, ...place }) => {
      const { recipient, transfers } = newPayment();
      const order = { transfers, key: crypto.randomUUID() };
      const ours = requestsOf(service.app, order);
      const names = Object.keys(ours) as Request[];
      for (const name of names.slice(0, names.indexOf(request))) await ours[name]();

      const proxy = await openDatabaseProxy(service.databaseUrl);
      const victim = await service.another({ DATABASE_URL: proxy.url, SVC_ROLE: 'all' });
      onTestFinished(() => void victim.process.kill('SIGKILL'));
      proxy.cutAt(place, when, () => victim.process.kill('SIGKILL'));
      const asked = requestsOf(service.app.at(victim), order)[request];
      const isDead = async () => {
        await asked().catch(() => undefined);
        return victim.process.signalCode;
      };
      expect(await eventually(isDead, (signal) => signal !== null, SETTLE_MS)).toBe('SIGKILL');
      proxy.close();

      await working();
      for (const name of names.slice(names.indexOf(request))) {
        const repeated = () =>
          ours[name]().then(
            () => true,
            () => false,
          );
        expect(await eventually(repeated, (done) => done, SETTLE_MS)).toBe(true);
      }
      const proposal = await ours.propose();
      await eventually(
        () => read(proposal),
        ({ state }) => state === 'EXECUTED',
        SETTLE_MS,
      );
      expect(await service.app.balance(recipient, 'USDC')).toBe(1_000_000n);
      const told = await service.db.rows<{ type: string }>(sql`
        select type from events where data -> 'proposalId' = ${JSON.stringify(proposal.id)}::jsonb order by type`);
      const ends = ['created', 'executed', 'signed', 'signed'];
      expect(told.map(({ type }) => type)).toEqual(ends.map((end) => `treasury.proposal.${end}`));
      const payments = await service.db.rows(sql`
        select from treasury_proposals where calls::text like ${`%"${recipient}"%`}`);
      expect(payments).toHaveLength(1);
      await settled(service.db);
      await auditRelays(service.db, service.sandbox);
    },
    2 * SETTLE_MS,
  );
});
