import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { classes, selector, starknetTokens, toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SandboxServer, startSandbox } from '../../packages/sandbox/testing/sandbox-server.ts';
import { credit } from '../../packages/server/src/ledger/ledger.ts';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import { field, type Organization } from '../support/app.ts';
import { auditRelays, redeemRows, settled } from '../support/audit.ts';
import { eventually } from '../support/eventually.ts';
import { Sandbox, type ShownAccount } from '../support/sandbox.ts';
import type { ServerProcess } from '../support/server.ts';
import { TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';
import { newTraffic, sendTraffic, type Traffic } from '../support/traffic.ts';

/** Four processes start, on a busy machine. */
const LIMIT_MS = 900_000;
const CLIENTS = 3;
/** In each phase, so that every phase sees traffic of all kinds. Creations of wallets wait while the chain stands still. */
const ROUNDS_EACH = 3;
const CREDITS = 10_000_000_000n;

let node: SandboxServer;
let chain: Sandbox;
let folder: string;
let service: TestService<ServerProcess>;
let app: Organization;
let old: { relayer: ShownAccount; manager: ShownAccount };
let next: { relayer: ShownAccount; manager: ShownAccount };

const pair = ({ address, privateKey }: ShownAccount) => `${address}:${privateKey}`;

beforeAll(async () => {
  node = await startSandbox();
  chain = new Sandbox({ origin: new URL(node.url).origin });
  const [first, second, third, manager] = await Promise.all(
    ['relayer 1', 'relayer 2', 'relayer 3', 'manager'].map((label) => chain.account(label)),
  );
  if (!(first && second && third && manager)) throw new Error('The sandbox has four relayers and a manager.');
  old = { relayer: first, manager };
  next = { relayer: second, manager: third };
  await chain.faucet(next.manager.address, 'USDC', '10000');
  folder = await mkdtemp(path.join(tmpdir(), 'svc-rotation-'));
  const tokens = starknetTokens.mainnet.map(([token, address, decimals]) => ({ token, address, decimals })).slice(0, 6);
  const network = { name: 'workshop', chainId: 'SVC_SANDBOX', tokens, classes: { svc: toHex(classes.svc) } };
  await writeFile(path.join(folder, 'network.json'), JSON.stringify(network));
  service = await TestService.start({
    SANDBOX: 'off',
    STARKNET_NETWORK: path.join(folder, 'network.json'),
    STARKNET_RPC_URLS: node.rpcUrl,
    STARKNET_PUBLIC_RPC_URL: node.rpcUrl,
    PAYMENT_ADDRESS: (await chain.account('faucet')).address,
    RELAYER_ACCOUNTS: pair(old.relayer),
    MANAGER_ACCOUNT: pair(old.manager),
    DEPOSIT_CONFIRMATIONS: '1',
    SPONSORED_PER_SECOND: '1000',
    SPONSORED_DAILY_STRK: '100000',
  });
  app = await service.organization({ environment: 'production' });
  const owner = { organizationId: app.id, environment: 'production' } as const;
  await credit(service.db, { ...owner, type: 'GRANT', amount: CREDITS, reference: 'credits of the test' });
}, LIMIT_MS);
afterAll(async () => {
  await service?.stop();
  await node?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What docs/operations.md says under "Changing keys". */
const changed = () => ({
  RELAYER_ACCOUNTS: pair(next.relayer),
  MANAGER_ACCOUNT: pair(next.manager),
  DRAINING_ACCOUNTS: [old.relayer, old.manager].map(pair).join(),
  DEPOSIT_KEY: old.manager.privateKey,
});

const felt = (address: string) => `0x${BigInt(address).toString(16).padStart(64, '0')}`;
const drained = () => [old.relayer, old.manager].map(({ address }) => felt(address));

async function phase(traffic: Traffic): Promise<void> {
  const until = traffic.rounds + ROUNDS_EACH;
  const rounds = async () => traffic.rounds;
  await eventually(rounds, (count) => count >= until, LIMIT_MS);
}

/** The accounts that have begun something since. */
const begunSince = async (at: Date) => {
  const rows = await service.db.rows<{ account: string }>(sql`
    select distinct account from relays where created_at > ${at} order by account`);
  return rows.map(({ account }) => account);
};

const now = async () => (await service.db.one<{ at: Date }>(sql`select clock_timestamp() as at`))?.at ?? new Date(0);

const openRelays = () =>
  service.db.rows<{ id: string; account: string }>(sql`
    select id, account from relays where state in ('STORED', 'SENT') and account = any (${drained()}) order by nonce`);

async function usdcOf(address: string): Promise<bigint> {
  const call = { contract_address: USDC, entry_point_selector: toHex(selector('balanceOf')), calldata: [address] };
  const { result } = await chain.rpc('call', [call, 'latest']);
  return BigInt(String((result as string[])[0]));
}

describe('keys of the relayer and of the manager', () => {
  it(
    'change under load: no request fails, old accounts end what they began and begin nothing, and everything is paid once',
    async () => {
      const depositAddress = field<string>(await app.get('/organization'), 'depositAddress');
      const traffic = newTraffic([service.server, await service.another()]);
      const clients = Array.from({ length: CLIENTS }, (_, place) => sendTraffic(app, traffic, place));
      try {
        await phase(traffic);
        // Nodes take transactions and forget them, so that the old accounts have some under way.
        const method = 'starknet_addInvokeTransaction';
        await chain.orderFault({ kind: 'forget', method, seconds: 3_600 });
        const held = await now();
        await eventually(
          () => begunSince(held),
          (accounts) => accounts.length === drained().length,
          LIMIT_MS,
        );
        for (const _ of [...traffic.servers]) {
          traffic.servers.push(await service.another(changed()));
          // Out of the balancer first, so that nothing is on its way to it when it stops.
          const leaving = traffic.servers.shift();
          await phase(traffic);
          expect(await leaving?.end()).toBe(0);
        }
        const at = await now();
        const begun = await eventually(
          () => begunSince(at),
          (accounts) => accounts.length >= 2,
          LIMIT_MS,
        );
        expect(begun).toEqual([next.relayer, next.manager].map(({ address }) => felt(address)).sort());
        traffic.isOver = true;
        await Promise.all(clients);
        expect(traffic.problems).toEqual([]);

        const left = await openRelays();
        expect(new Set(left.map(({ account }) => account))).toEqual(new Set(drained()));
        expect((await begunSince(at)).filter((account) => drained().includes(account))).toEqual([]);

        // Prices have risen: what the old accounts sent goes through with a higher fee, which their keys sign.
        await service.db.run(sql`
          update relay_attempts set created_at = created_at - interval '2 minutes'
           where relay_id = any (${left.map(({ id }) => id)})`);
        await chain.ask('/starknet/faults', undefined, 'DELETE');
        await chain.orderFault({ kind: 'error', code: 65, message: 'Too low', method, seconds: 3_600 });
        const raised = () =>
          service.db.rows<{ account: string }>(sql`
            select distinct account from relay_attempts join relays on relays.id = relay_id
             where relay_attempts.kind = 'BUMP' and account = any (${drained()})`);
        await eventually(raised, (rows) => rows.length === 2, LIMIT_MS);
        await chain.ask('/starknet/faults', undefined, 'DELETE');

        await settled(service.db, LIMIT_MS);
        const rows = await eventually(
          () => redeemRows(service.db),
          (all) => all.every(({ status }) => status === 'SUCCESS'),
          LIMIT_MS,
        );
        expect(rows.map(({ id }) => id).sort()).toEqual([...traffic.redeems].sort());
        for (const { address, amount } of rows) expect([address, await usdcOf(address)]).toEqual([address, amount]);
        expect(await service.db.rows(sql`select id from transactions where status = 'FAILED'`)).toEqual([]);
        expect(await openRelays()).toEqual([]);
        await auditRelays(service.db, chain);
        expect(await findBrokenInvariants(service.db)).toEqual([]);

        // Organisations keep their address; what arrives there goes to the new manager.
        const [server] = traffic.servers as [ServerProcess];
        const organization = () => app.at(server).get('/organization');
        expect(field(await organization(), 'depositAddress')).toBe(depositAddress);
        const before = await usdcOf(next.manager.address);
        await chain.faucet(depositAddress, 'USDC', '25');
        const swept = async () => (await usdcOf(next.manager.address)) - before;
        expect(await eventually(swept, (amount) => amount > 0n, LIMIT_MS)).toBe(25_000_000n);
        expect(await findBrokenInvariants(service.db)).toEqual([]);
      } finally {
        traffic.isOver = true;
        await Promise.all(clients);
      }
    },
    LIMIT_MS,
  );
});
