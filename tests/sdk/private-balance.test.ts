import { Worker } from 'node:worker_threads';
import { createSvc, type Svc, type SvcOptions } from '@svc/sdk';
import type { PrivateStep } from '@svc/sdk/private-balance';
import { selector } from '@svc/starknet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Fetch } from '../../packages/sdk/src/client/client.ts';
import { encryptKey, SessionFixture, type TestWallet } from '../support/sessions.ts';
import { STRK } from '../support/starknet-client.ts';

const WORKER = new URL('../../packages/sdk/src/private-balance/worker.ts', import.meta.url);
const TRANSFER = selector('Transfer');
const FEE = 4n * 10n ** 18n;
const PAUSED = { code: 'SHIELD_PAUSED', name: 'SvcPrivateBalanceError' };
const retryIntervalMs = 20;
/** Some proofs, each checked twice, beside other tests. */
const LIMIT_MS = 120_000;

let fixture: SessionFixture;
let svc: Svc;
beforeAll(async () => {
  fixture = await SessionFixture.start();
  svc = open();
}, LIMIT_MS);
afterEach(() => setTerms({}));
afterAll(() => fixture.service.stop());

function open(options: Partial<SvcOptions> = {}): Svc {
  const { baseUrl, publicKey, secretKey } = fixture.service.server.credentials;
  return createSvc({ baseUrl, publicKey, secretKey, ...options });
}

/** A service that states other terms than the pool has. */
function openLied(stated: object): Svc {
  return open({
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (!url.endsWith('/v1/config')) return response;
      const config = (await response.json()) as { privateBalance: object };
      return Response.json({ ...config, privateBalance: { ...config.privateBalance, ...stated } });
    },
  });
}

const setTerms = (terms: { fee?: string; shieldPaused?: boolean; lagBlocks?: number }) =>
  fixture.sandbox.ask('/starknet/pool', terms);

/** With 100 USDC. */
async function newAccount() {
  const wallet = await fixture.wallet();
  return { wallet, own: { encryptKey, wallet, retryIntervalMs }, keys: await keysOf(wallet) };
}

const keysOf = (wallet: TestWallet) => svc.privateBalance.deriveKeys({ encryptKey, wallet });
const usdc = (wallet: TestWallet) => fixture.app.balance(wallet.publicKey, 'USDC');

describe('a private balance', { timeout: LIMIT_MS }, () => {
  it('is shielded, sent, received and unshielded, with every step told', async () => {
    const [ana, ben] = [await newAccount(), await newAccount()];
    const { privateBalance } = svc;
    const steps: PrivateStep[] = [];
    const onStep = (step: PrivateStep) => steps.push(step);
    expect(await privateBalance.getPrivateBalance(ana)).toEqual({ token: 'USDC', balance: '0', pending: '0' });

    const shielded = await privateBalance.shield({ ...ana.own, amount: '10.5', onStep });
    expect(steps).toEqual(['prepare', 'fund', 'prove', 'submit', 'finish']);
    expect(shielded).toEqual({ transactionHash: expect.stringMatching(/^0x/), blockNumber: expect.any(Number) });
    expect(await usdc(ana.wallet)).toBe(89_500_000n);

    const recipient = ben.keys.privateAddress;
    await privateBalance.transfer({ ...ana.own, amount: '4', recipient });
    await privateBalance.transfer({ ...ana.own, amount: 0.25, recipient });
    expect(await privateBalance.getPrivateBalance(ana)).toMatchObject({ balance: '6.25', pending: '0' });
    expect(await privateBalance.getPrivateBalance(ben)).toMatchObject({ balance: '0', pending: '4.25' });

    await privateBalance.rollover(ben.own);
    expect(await privateBalance.getPrivateBalance(ben)).toMatchObject({ balance: '4.25', pending: '0' });
    await privateBalance.unshield({ ...ben.own, amount: '4.25' });
    expect(await usdc(ben.wallet)).toBe(104_250_000n);
    expect(await privateBalance.getPrivateBalance(ben)).toMatchObject({ balance: '0', pending: '0' });

    const shown = async ({ keys }: typeof ana) =>
      (await privateBalance.history({ keys })).map(({ type, amount, counterparty }) => [type, amount, counterparty]);
    expect(await shown(ben)).toEqual([
      ['UNSHIELD', '4.25', expect.stringMatching(/^0x/)],
      ['ROLLOVER', '4.25', null],
      ['RECEIVED', '0.25', ana.keys.privateAddress],
      ['RECEIVED', '4', ana.keys.privateAddress],
    ]);
    expect(await shown(ana)).toEqual([
      ['SENT', '0.25', recipient],
      ['SENT', '4', recipient],
      ['SHIELD', '10.5', null],
    ]);
  });

  it('is found again by a restored wallet, and by no other', async () => {
    const { wallet, keys } = await newAccount();
    expect(await keysOf({ ...wallet })).toEqual(keys);
    expect((await newAccount()).keys.privateAddress).not.toBe(keys.privateAddress);
    await expect(keysOf({ ...wallet, publicKey: '0x123' })).rejects.toMatchObject({ code: 'decryption_failed' });
  });

  it('is proven in a worker, and here where the worker does not start', async () => {
    const { own, keys } = await newAccount();
    const started: string[] = [];
    const withWorker = open({
      proofWorker: () => {
        started.push('worker');
        return new Worker(WORKER);
      },
    });
    await withWorker.privateBalance.shield({ ...own, amount: '3' });
    expect(started).toEqual([]);
    await withWorker.privateBalance.unshield({ ...own, amount: '1' });
    expect(started).toEqual(['worker']);
    const broken = open({ proofWorker: () => new Worker(new URL('./no-such-file.ts', import.meta.url)) });
    await broken.privateBalance.unshield({ ...own, amount: '1' });
    const forbidden = open({
      proofWorker: () => {
        throw new Error('Workers are not allowed here.');
      },
    });
    await forbidden.privateBalance.unshield({ ...own, amount: '1' });
    expect(await forbidden.privateBalance.getPrivateBalance({ keys })).toMatchObject({ balance: '0' });
  });

  it('is read and spent without its viewing key, or the wallet key, leaving the library', async () => {
    const { own, keys } = await newAccount();
    const sent: string[] = [];
    const recorded: Fetch = (url, init) => {
      sent.push(`${url} ${JSON.stringify(init?.headers)} ${String(init?.body)}`);
      return fetch(url, init);
    };
    const { privateBalance } = open({ fetch: recorded });
    await privateBalance.shield({ ...own, amount: '2' });
    await privateBalance.getPrivateBalance({ keys });
    await privateBalance.history({ keys });
    const all = sent.join('\n').toLowerCase();
    expect(all).toContain('execute-sponsored-transaction');
    expect(all).not.toContain(keys.viewingKey.slice(2));
    expect(all).not.toContain(BigInt(keys.viewingKey).toString());
  });

  it('is not touched by typed data that the service changed', async () => {
    const { own, keys } = await newAccount();
    const paths: string[] = [];
    const lying = open({
      fetch: async (url, init) => {
        paths.push(new URL(url).pathname);
        const response = await fetch(url, init);
        if (!url.endsWith('/prepare-typed-data')) return response;
        const answer = (await response.json()) as { typedData: { message: { Calls: { Calldata: string[] }[] } } };
        answer.typedData.message.Calls.at(-1)?.Calldata.splice(2, 1, '0x1');
        return Response.json(answer);
      },
    });
    const refused = lying.privateBalance.shield({ ...own, amount: '2' });
    await expect(refused).rejects.toMatchObject({ code: 'typed_data_mismatch' });
    expect(paths.filter((path) => path.endsWith('/execute-sponsored-transaction'))).toEqual([]);
    expect(await svc.privateBalance.getPrivateBalance({ keys })).toMatchObject({ balance: '0' });
  });
});

describe('an operation on a private balance', { timeout: LIMIT_MS }, () => {
  it('follows the terms: a pause stops shields alone', async () => {
    const { own } = await newAccount();
    await svc.privateBalance.shield({ ...own, amount: '5' });
    await setTerms({ shieldPaused: true });
    expect(await svc.privateBalance.terms()).toEqual({
      ...{ pool: expect.stringMatching(/^0x/), token: 'USDC', fee: '0', lagBlocks: 0 },
      ...{ shieldPaused: true, maxAmount: '4294.967295' },
    });
    await expect(svc.privateBalance.shield({ ...own, amount: '1' })).rejects.toMatchObject(PAUSED);
    const untold = openLied({ shieldPaused: false }).privateBalance;
    await expect(untold.shield({ ...own, amount: '1' })).rejects.toMatchObject(PAUSED);
    await svc.privateBalance.unshield({ ...own, amount: '1' });
  });

  it('waits for the lag, and the error says how many blocks', async () => {
    const { own } = await newAccount();
    await setTerms({ lagBlocks: 12 });
    await svc.privateBalance.shieldBatch({ ...own, amounts: ['2', '3'] });
    await fixture.sandbox.ask('/starknet/mine', { blocks: 2 });
    const early = await svc.privateBalance.unshield({ ...own, amount: '1' }).catch((error: unknown) => error);
    expect(early).toMatchObject({ code: 'POOL_BUSY', name: 'SvcPrivateBalanceError' });
    const { blocksToWait } = early as { blocksToWait: number };
    expect(blocksToWait).toBeGreaterThan(0);
    expect(blocksToWait).toBeLessThanOrEqual(10);
    const untold = openLied({ lagBlocks: 0 }).privateBalance.unshield({ ...own, amount: '1' });
    await expect(untold).rejects.toMatchObject({ code: 'POOL_BUSY', blocksToWait: expect.any(Number) });
    await fixture.sandbox.ask('/starknet/mine', { blocks: blocksToWait });
    await svc.privateBalance.unshield({ ...own, amount: '1' });
  });

  it('pays the fee, a batch of shields once, and never more than maxFee', async () => {
    const { own, wallet, keys } = await newAccount();
    await fixture.sandbox.faucet(wallet.publicKey, 'STRK', '20');
    await setTerms({ fee: '4' });
    expect(await svc.privateBalance.terms()).toMatchObject({ fee: '4' });
    const cheap = svc.privateBalance.shield({ ...own, amount: '1', maxFee: '3.9' });
    await expect(cheap).rejects.toMatchObject({ code: 'POOL_FEE_UNPAID' });
    const untold = openLied({ fee: '0' }).privateBalance.shield({ ...own, amount: '1' });
    await expect(untold).rejects.toMatchObject({ code: 'POOL_FEE_UNPAID' });

    const { transactionHash } = await svc.privateBalance.shieldBatch({ ...own, amounts: ['1', '2', '3'] });
    expect(await svc.privateBalance.getPrivateBalance({ keys })).toMatchObject({ balance: '6' });
    expect(await paidBy(wallet, transactionHash)).toEqual([FEE]);
    const unshielded = await svc.privateBalance.unshield({ ...own, amount: '6' });
    expect(await paidBy(wallet, unshielded.transactionHash)).toEqual([FEE]);
  });

  it('is refused before a proof where the private balance is too small', async () => {
    const [ana, ben] = [await newAccount(), await newAccount()];
    await svc.privateBalance.shield({ ...ana.own, amount: '2' });
    const steps: PrivateStep[] = [];
    const tooMuch = { ...ana.own, amount: '2.000001', onStep: (step: PrivateStep) => steps.push(step) };
    const insufficient = { code: 'INSUFFICIENT_PRIVATE_BALANCE', name: 'SvcPrivateBalanceError' };
    await expect(svc.privateBalance.unshield(tooMuch)).rejects.toMatchObject(insufficient);
    const recipient = ben.keys.privateAddress;
    await expect(svc.privateBalance.transfer({ ...tooMuch, recipient })).rejects.toMatchObject(insufficient);
    expect(steps).toEqual(['prepare', 'prepare']);
    await svc.privateBalance.transfer({ ...ana.own, amount: '2', recipient });
    const early = svc.privateBalance.unshield({ ...ben.own, amount: '2' });
    await expect(early).rejects.toMatchObject({ ...insufficient, message: expect.stringContaining('after rollover') });
  });

  it('is refused with an old proof, and made again', async () => {
    const { own, keys } = await newAccount();
    const meanwhile = (step: PrivateStep) =>
      step === 'submit' ? svc.privateBalance.shield({ ...own, amount: '1' }) : undefined;
    const old = svc.privateBalance.shield({ ...own, amount: '2', onStep: meanwhile });
    await expect(old).rejects.toMatchObject({ code: 'PROOF_REJECTED', name: 'SvcPrivateBalanceError' });
    await svc.privateBalance.shield({ ...own, amount: '2' });
    expect(await svc.privateBalance.getPrivateBalance({ keys })).toMatchObject({ balance: '3' });
  });

  it.each([
    ['nothing', '0'],
    ['a fraction of the smallest unit', '0.0000001'],
    ['more than the pool takes', '4294.967296'],
    ['a word', 'all'],
  ])('is refused for %s', async (_, amount) => {
    const { own } = await newAccount();
    await expect(svc.privateBalance.shield({ ...own, amount })).rejects.toMatchObject({ code: 'invalid_input' });
    const recipient = '0x123';
    const transfer = svc.privateBalance.transfer({ ...own, amount: '1', recipient });
    await expect(transfer).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

/** STRK that the wallet paid in a transaction, by each transfer. */
async function paidBy({ publicKey }: TestWallet, transactionHash: string): Promise<bigint[]> {
  const { events } = await svc.waitForTransaction(transactionHash, { retryIntervalMs });
  return events
    .filter(({ from_address, keys: [key = '0x0', from = '0x0'] }) => {
      return BigInt(from_address) === BigInt(STRK) && BigInt(key) === TRANSFER && BigInt(from) === BigInt(publicKey);
    })
    .map(({ data: [low = '0x0'] }) => BigInt(low));
}
