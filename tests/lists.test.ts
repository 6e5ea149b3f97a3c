import { classes, selector } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, bodyOf, type ContractCall, hashOf, Owner, SessionKey, transferOf } from './support/app.ts';
import { expectError } from './support/assertions.ts';
import { send } from './support/client.ts';
import { eventually } from './support/eventually.ts';
import { type AnyService, TestService } from './support/service.ts';
import { USDC } from './support/starknet-client.ts';

interface Page<T> {
  readonly data: T[];
  readonly nextCursor: string | null;
}

interface Listed {
  readonly id: string;
  readonly externalUserId: string;
  readonly normalizedPublicKey: string;
}

const RECIPIENT = `0x${'b0b'.padStart(64, '0')}`;
const hex = (value: bigint) => `0x${value.toString(16)}`;

let service: AnyService;
let app: App;
let [ana, luis, eva] = [new Owner(), new Owner(), new Owner(classes.svcSessions)];
let transfer: string;

beforeAll(async () => {
  service = await TestService.shared();
  app = service.app;
  [ana, luis, eva] = [
    await service.wallet({ user: 'ana@tienda.example' }),
    await service.wallet({ user: 'luis' }),
    await service.wallet({ user: '100%_luis', classHash: classes.svcSessions }),
  ];
  transfer = await succeed(ana, [transferOf(USDC, RECIPIENT, 1_500_000n), transferOf(USDC, luis.address, 7n)]);
});
afterAll(() => service.stop());

async function succeed(owner: Owner, calls: ContractCall[]): Promise<string> {
  const hash = hashOf(await app.execute(owner, calls));
  const done = await eventually(
    () => app.get(`/transactions/${hash}`),
    ({ body }) => (body as { status: string }).status !== 'PENDING',
  );
  expect(done.body).toMatchObject({ status: 'SUCCESS' });
  return hash;
}

const list = async <T>(path: string): Promise<Page<T>> => bodyOf<Page<T>>(await app.get(path), 200);
const usersOf = async (query: string) =>
  (await list<Listed>(`/svc-wallets?${query}`)).data.map(({ externalUserId }) => externalUserId);
const idOf = async ({ address }: Owner) => (await list<Listed>(`/svc-wallets?search=${address}`)).data[0]?.id ?? '';

describe('the list of wallets', () => {
  it('has all of the environment, newest first, by cursor, and no encrypted key', async () => {
    const all = await list<Listed>('/svc-wallets');
    expect(all.data.map(({ externalUserId }) => externalUserId)).toEqual(['100%_luis', 'luis', 'ana@tienda.example']);
    expect(JSON.stringify(all)).not.toContain('ciphertext');
    const first = await list<Listed>('/svc-wallets?limit=2');
    const rest = await list<Listed>(`/svc-wallets?limit=2&cursor=${first.nextCursor}`);
    expect([...first.data, ...rest.data]).toEqual(all.data);
    expect(rest.nextCursor).toBeNull();
  });

  it('is searched by the beginning of a user, literally, and by address with any padding', async () => {
    expect(await usersOf('search=ana@')).toEqual(['ana@tienda.example']);
    expect(await usersOf('search=luis')).toEqual(['luis']);
    expect(await usersOf(`search=${encodeURIComponent('100%')}`)).toEqual(['100%_luis']);
    expect(await usersOf(`search=${encodeURIComponent('%')}`)).toEqual([]);
    const unpadded = hex(BigInt(ana.address));
    for (const address of [ana.address, unpadded, unpadded.replace('0x', '0x0')]) {
      expect(await usersOf(`search=${address}`)).toEqual(['ana@tienda.example']);
    }
  });

  it('is filtered by type, deployment and time', async () => {
    expect(await usersOf('walletType=READY')).toEqual([]);
    expect(await usersOf('walletType=SVC&isDeployed=true')).toHaveLength(3);
    expect(await usersOf('isDeployed=false')).toEqual([]);
    expect(await usersOf('createdBefore=2026-01-01')).toEqual([]);
    expect(await usersOf('createdAfter=2026-01-01')).toHaveLength(3);
    expectError(await app.get('/svc-wallets?createdAfter=2026-02-30'), 400, 'invalid_request');
    expectError(await app.get('/svc-wallets?cursor=nonsense'), 400, 'invalid_request');
  });

  it('shows one by its id, to its own organisation alone', async () => {
    const id = await idOf(ana);
    expect((await app.get(`/svc-wallets/${id}`)).body).toMatchObject({ id, externalUserId: 'ana@tienda.example' });
    const other = await service.organization();
    for (const path of [`/svc-wallets/${id}`, `/svc-wallets/${id}/chain-state`]) {
      const refusals = [await other.get(path), await other.get(path.replace(id, 'wal_nothing'))];
      for (const reply of refusals) expectError(reply, 404, 'wallet_not_found');
      expect(refusals[0]?.body).toEqual(refusals[1]?.body);
    }
    expect((await other.get('/svc-wallets')).body).toEqual({ data: [], nextCursor: null });
    expect((await other.get(`/svc-wallets?search=${ana.address}`)).body).toEqual({ data: [], nextCursor: null });
  });
});

describe('the state of a wallet on the chain', () => {
  it('has balances, class, sessions and policies, and says what was revoked', async () => {
    const owner = await service.wallet({ user: 'sesiones', usdc: '12.5' });
    const validUntil = BigInt(Math.floor(Date.now() / 1_000)) + 3_600n;
    const [kept, revoked] = [new SessionKey(validUntil), new SessionKey(validUntil)];
    const self = (entrypoint: string, calldata: string[]) => ({ contractAddress: owner.address, entrypoint, calldata });
    const add = ({ publicKey }: SessionKey, functions: string[]) =>
      self('add_or_update_session_key', [
        publicKey,
        hex(validUntil),
        '0x5',
        hex(BigInt(functions.length)),
        ...functions,
      ]);
    await succeed(owner, [
      add(kept, [hex(selector('transfer'))]),
      self('set_spending_policy', [kept.publicKey, USDC, '0x64', '0x0', '0x3e8', '0x0', '0xe10']),
      add(revoked, []),
    ]);
    await succeed(owner, [self('revoke_session_key', [revoked.publicKey])]);
    const state = bodyOf<{ sessions: object[]; balances: object[] }>(
      await app.get(`/svc-wallets/${await idOf(owner)}/chain-state`),
      200,
    );
    expect(state).toMatchObject({ isDeployed: true, isCurrentClass: true, walletType: 'SVC', hasAllSessions: true });
    expect(state.balances).toContainEqual(expect.objectContaining({ chainToken: 'USDC', balance: '12500000' }));
    const policy = { token: 'USDC', decimals: 6, maxPerCall: '100', maxPerWindow: '1000', windowSeconds: 3600 };
    expect(state.sessions).toEqual([
      expect.objectContaining({ publicKey: revoked.publicKey, state: 'REVOKED', policies: [] }),
      {
        publicKey: kept.publicKey,
        state: 'ACTIVE',
        validUntil: new Date(Number(validUntil) * 1_000).toISOString(),
        maxCalls: 5,
        callsUsed: 0,
        allowedEntrypoints: [{ selector: hex(selector('transfer')), name: 'transfer' }],
        policies: [expect.objectContaining({ ...policy, spentInWindow: '0' })],
      },
    ]);
  });

  it('says that a wallet of an earlier class can be upgraded', async () => {
    const reply = await app.get(`/svc-wallets/${await idOf(eva)}/chain-state`);
    expect(reply.body).toMatchObject({ isCurrentClass: false, classHash: hex(classes.svcSessions) });
  });
});

interface Tx {
  readonly id: string;
  readonly type: string;
  readonly amount: string;
  readonly transactionHash: string;
}

const txs = async (query: string) => (await list<Tx>(`/transactions?${query}`)).data;

describe('the list of transactions', () => {
  it('has those of all wallets, newest first, by cursor', async () => {
    const all = await txs('limit=100');
    const paged: Tx[] = [];
    let cursor = '';
    for (let page = 0; page < all.length; page++) {
      const { data, nextCursor } = await list<Tx>(`/transactions?limit=1${cursor}`);
      paged.push(...data);
      if (nextCursor === null) break;
      cursor = `&cursor=${nextCursor}`;
    }
    expect(paged).toEqual(all);
    expect(all.filter(({ transactionHash }) => transactionHash === transfer).length).toBeGreaterThanOrEqual(2);
  });

  it('is filtered by type, status, token, address, user and time', async () => {
    const sent = await txs(`walletAddress=${RECIPIENT}`);
    expect(sent).toMatchObject([{ type: 'SEND', amount: '1500000', transactionHash: transfer }]);
    expect(await txs(`walletAddress=${hex(0xb0bn)}&type=SEND&status=SUCCESS&token=USDC`)).toEqual(sent);
    expect(await txs(`walletAddress=${RECIPIENT}&token=STRK`)).toEqual([]);
    expect(await txs(`walletAddress=${RECIPIENT}&status=FAILED`)).toEqual([]);
    expect(await txs(`externalUserId=${encodeURIComponent('ana@tienda.example')}&type=SEND`)).toHaveLength(2);
    expect(await txs(`externalUserId=luis&walletAddress=${RECIPIENT}`)).toEqual([]);
    expect(await txs('externalUserId=nobody')).toEqual([]);
    expect(await txs('createdBefore=2026-01-01')).toEqual([]);
    expect(await txs('skuId=telmex-recibo')).toEqual([]);
    expectError(await app.get('/transactions?walletAddress=ana'), 400, 'invalid_request');
  });

  it('is searched by hash with any padding, and by id', async () => {
    const [record] = await txs(`search=${transfer.replace('0x', '0x0')}&walletAddress=${RECIPIENT}`);
    expect(record).toMatchObject({ transactionHash: transfer });
    expect(await txs(`search=${record?.id}`)).toEqual([record]);
    expect(await txs('search=0x1234')).toEqual([]);
    expect(await txs('search=txn_nothing')).toEqual([]);
  });

  it("has nothing of another organisation, neither by its address nor by its transaction's hash", async () => {
    const other = await service.organization();
    const queries = ['', `walletAddress=${ana.address}`, `search=${transfer}`, 'externalUserId=luis'];
    for (const query of queries) {
      expect((await other.get(`/transactions?${query}`)).body).toEqual({ data: [], nextCursor: null });
    }
    expectError(await other.get(`/transactions/${transfer}/details`), 404, 'transaction_not_found');
  });
});

describe('the details of a transaction', () => {
  it('have what the owner signed, its events, the fee and the attempt that was executed', async () => {
    const { body } = await app.get(`/transactions/${transfer}/details`);
    expect(body).toMatchObject({
      status: 'ACCEPTED_ON_L2',
      revertReason: null,
      fee: expect.stringMatching(/^[1-9]\d+$/),
      calls: [
        {
          caller: expect.stringMatching(/^0x[0-9a-f]{64}$/),
          token: 'USDC',
          decimals: 6,
          functionName: 'transfer',
          arguments: [
            { name: 'recipient', value: RECIPIENT },
            { name: 'amount', value: '1500000' },
          ],
        },
        { functionName: 'transfer', arguments: [{}, { name: 'amount', value: '7' }] },
      ],
      relay: {
        state: 'SUCCEEDED',
        attempts: [{ transactionHash: transfer, kind: 'FIRST', state: 'SUCCEEDED', sentAt: expect.any(String) }],
      },
    });
    const { calls, events, relay, feePayer } = body as {
      calls: { caller: string }[];
      events: { name: string; values: object[] }[];
      relay: { account: string };
      feePayer: string;
    };
    const { records } = body as { records: Tx[] };
    const byId = (await app.get(`/transactions/${records[1]?.id}/details`)).body as typeof body & { records: Tx[] };
    expect(byId).toMatchObject({ transaction: { id: records[1]?.id } });
    const idsOf = (all: Tx[]) => all.map(({ id }) => id);
    expect(idsOf(byId.records)).toEqual(expect.arrayContaining(idsOf(records)));
    expect(BigInt(calls[0]?.caller ?? 0)).toBe(BigInt(ana.address));
    expect(feePayer).toBe(relay.account);
    expect(events.filter(({ name }) => name === 'Transfer').map(({ values }) => values[2])).toContainEqual({
      name: 'amount',
      value: '1500000',
    });
  });

  it('show neither relay nor attempts to the organisation that only received', async () => {
    const other = await service.organization();
    const receiver = new Owner();
    const message = await app.prepareCreation(receiver);
    const creation = {
      ...(await app.creation(receiver, 'x')),
      typedData: message,
      userSignature: receiver.sign(message),
    };
    expect((await other.post('/svc-wallets', { ...creation, externalUserId: 'receptora' })).status).toBe(200);
    const hash = await succeed(ana, [transferOf(USDC, receiver.address, 3n)]);
    const found = await eventually(
      () => other.get(`/transactions/${hash}/details`),
      ({ status }) => status === 200,
    );
    expect(found.body).toMatchObject({
      transaction: { type: 'RECEIVE', amount: '3' },
      records: [{}],
      relay: null,
      calls: [{ functionName: 'transfer' }],
    });
  });
});

describe('the overview', () => {
  it('counts what happened, in buckets without gaps, and ticks off what is there', async () => {
    const before = (await app.get('/organization/overview?range=24h')).body as Overview;
    const redeemed = before.totals.giftsRedeemed;
    expect(before.checklist).toMatchObject({ wallet: true, transfer: true, gift: redeemed > 0, webhook: false });
    const gift = await app.gift({ amount: 2 });
    await app.post(`/gifts/claim/${gift.code}/redeem`, { walletAddress: luis.address, chain: 'starknet' });
    for (const [range, buckets] of [
      ['24h', 24],
      ['7d', 28],
      ['30d', 30],
    ] as const) {
      const seen = await eventually(
        async () => (await app.get(`/organization/overview?range=${range}`)).body as Overview,
        ({ totals }) => totals.giftsRedeemed === redeemed + 1,
      );
      expect(seen.series).toHaveLength(buckets);
      expect(seen.totals).toMatchObject({ giftsRedeemedUsd: 2 * (redeemed + 1), purchases: 0, failedTransactions: 0 });
      expect(seen.totals.wallets).toBeGreaterThanOrEqual(3);
      expect(BigInt(seen.totals.gasFri)).toBeGreaterThan(0n);
      expect(seen.series.reduce((sum, { wallets }) => sum + wallets, 0)).toBe(seen.totals.wallets);
      expect(seen.previousTotals).toMatchObject({ wallets: 0, transactions: 0, gasFri: '0' });
      expect(seen.checklist.gift).toBe(true);
    }
    expectError(await app.get('/organization/overview?range=1y'), 400, 'invalid_request');
  });

  it('of another organisation is empty', async () => {
    const other = await service.organization();
    const { totals, checklist } = (await other.get('/organization/overview')).body as Overview;
    expect(totals).toMatchObject({ wallets: 0, transactions: 0, giftsRedeemed: 0, gasFri: '0' });
    expect(Object.values(checklist)).not.toContain(true);
  });
});

interface Activity {
  readonly wallets: number;
  readonly giftsRedeemed: number;
  readonly gasFri: string;
}
interface Overview {
  readonly totals: Activity;
  readonly previousTotals: Activity;
  readonly series: Activity[];
  readonly checklist: Record<string, boolean>;
}

interface Logged {
  readonly requestId: string;
  readonly path: string;
  readonly errorCode: string | null;
}

describe('the request log', () => {
  const logged = (query: string, count = 1) =>
    eventually(
      async () => (await list<Logged>(`/organization/requests?${query}`)).data,
      (rows) => rows.length >= count,
    );

  it('finds a request by its id, with the pattern of its path, its error and its key', async () => {
    const reply = await send(`${app.baseUrl}/gifts/gift_secret`, {
      headers: { ...app.headers, 'x-request-id': 'lista-1' },
    });
    expect(reply.status).toBe(404);
    expect(await logged('requestId=lista-1')).toMatchObject([
      { method: 'GET', path: '/gifts/{id}', status: 404, errorCode: 'gift_not_found', ignoredFields: [] },
    ]);
    expect(await logged('status=4xx&errorCode=gift_not_found')).toMatchObject([{ requestId: 'lista-1' }]);
    expect(await logged('method=GET&path=/gifts/{id}&status=4xx')).toMatchObject([{ requestId: 'lista-1' }]);
    expect((await list(`/organization/requests?requestId=lista-1&status=2xx`)).data).toEqual([]);
  });

  it('names the fields that a request had beside those of the endpoint', async () => {
    await app.post(
      '/gifts/bulk',
      { name: 'x', recipients: [{ mail: 'ana@example.com' }] },
      { 'x-request-id': 'lista-6' },
    );
    expect(await logged('requestId=lista-6')).toMatchObject([{ ignoredFields: ['recipients[].mail'] }]);
  });

  it('names the error of a refusal that an Idempotency-Key replays', async () => {
    const ask = (id: string) => app.post('/gifts', { name: 'x' }, { 'idempotency-key': 'lista', 'x-request-id': id });
    await ask('lista-2');
    await ask('lista-3');
    for (const id of ['lista-2', 'lista-3']) {
      expect(await logged(`requestId=${id}`)).toMatchObject([{ path: '/gifts', errorCode: 'invalid_request' }]);
    }
  });

  it('has neither gift codes nor requests of those who claim, and nothing of other organisations', async () => {
    const { code } = await app.gift();
    await send(`${app.baseUrl}/gifts/claim/${code}`, { headers: { 'x-request-id': 'lista-4' } });
    await send(`${app.baseUrl}/gifts?cursor=${code}`, { headers: { ...app.headers, 'x-request-id': 'lista-5' } });
    await logged('requestId=lista-5');
    const other = await service.organization();
    expect((await other.get('/organization/requests?requestId=lista-5')).body).toMatchObject({ data: [] });
    const rows = await service.db.rows<object>(sql`select * from request_log`);
    expect(JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toMatch(
      new RegExp(`lista-4|${code}|sk_dev_|pk_dev_`, 'i'),
    );
  });
});
