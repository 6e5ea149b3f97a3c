import {
  type Call,
  classes,
  constructorCalldata,
  encodeAddOrUpdateSessionKey,
  encodeOutsideExecution,
  encodeSetSpendingPolicy,
  outsideExecutionHash,
  selector,
  starkKey,
  UDC_ADDRESS,
} from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { call, STRK, TestChain, transfer, USDC } from '../../testing/test-chain.ts';
import {
  OWNER_KEY,
  outside,
  ownerSignature,
  relayer,
  SESSION,
  sessionSignature,
  TestWallet,
} from '../../testing/test-wallet.ts';
import { predeployed } from '../contracts/predeployed.ts';
import type { Executed } from './types.ts';

const FRESH = 0xf5e5n;
const PUBLIC_KEY = starkKey(OWNER_KEY);

/** A chain with money for the payer, and one recipient that has some of it. */
async function paidOnce(): Promise<{ chain: TestChain; known: bigint }> {
  const chain = new TestChain();
  const known = 0xb0bn;
  await chain.mint(USDC, relayer.address, 1_000_000n);
  await chain.mint(USDC, known, 1n);
  return { chain, known };
}

async function pay(to: 'known' | 'fresh', count = 1): Promise<Executed> {
  const { chain, known } = await paidOnce();
  const recipients = Array.from({ length: count }, (_, index) => (to === 'known' ? known : FRESH + BigInt(index)));
  return chain.must(
    relayer,
    recipients.map((recipient) => transfer(USDC, recipient, 1n)),
  );
}

const deployCall = call(UDC_ADDRESS, 'deploy_contract', [classes.svc, PUBLIC_KEY, 0n, 1n, PUBLIC_KEY]);

/** As the service does it: the deployment, and the owner's signature over no calls. */
async function createWallet(): Promise<Executed> {
  const chain = new TestChain();
  const { address } = chain.deployment(OWNER_KEY, classes.svc, [PUBLIC_KEY]);
  const execution = outside(chain, []);
  const signed = ownerSignature(chain, { address, privateKey: OWNER_KEY }, execution);
  const execute = call(address, 'execute_from_outside_v2', encodeOutsideExecution(execution, signed));
  return chain.must(relayer, [deployCall, execute]);
}

/** A wallet of the class; it has paid `known` before. */
async function open(classHash: bigint = classes.svc): Promise<{ wallet: TestWallet; known: Call }> {
  const ready = classHash === classes.ready;
  const wallet = await TestWallet.open(classHash, ready ? constructorCalldata('READY', PUBLIC_KEY) : undefined);
  await wallet.chain.mint(USDC, 0xb0bn, 1n);
  return { wallet, known: transfer(USDC, 0xb0bn, 1n) };
}

async function transaction(transfers: number): Promise<Executed> {
  const { wallet, known } = await open();
  return wallet.chain.must(wallet.owner, Array(transfers).fill(known));
}

async function send({ chain, address, owner }: TestWallet, calls: readonly Call[], validUntil?: bigint) {
  const execution = outside(chain, calls);
  const hash = outsideExecutionHash(2, execution, address, chain.block.chainId);
  const signed =
    validUntil === undefined ? ownerSignature(chain, owner, execution) : sessionSignature(hash, validUntil);
  const execute = call(address, 'execute_from_outside_v2', encodeOutsideExecution(execution, signed));
  const outcome = await chain.send(relayer, [execute]);
  if (!('status' in outcome)) throw new Error(outcome.reason);
  return outcome;
}

async function relayed(transfers: number): Promise<Executed> {
  const { wallet, known } = await open();
  return send(wallet, Array(transfers).fill(known));
}

/** What a session does that has been used before, its policy too. */
async function bySession(transfers: number, policy: boolean, amount = 1n): Promise<Executed> {
  const { wallet, known } = await open();
  const validUntil = await wallet.addSession({ allowedEntrypoints: [selector('transfer')] });
  if (policy) await wallet.setPolicy();
  await send(wallet, [known], validUntil);
  return send(wallet, Array(transfers).fill(transfer(USDC, 0xb0bn, amount)), validUntil);
}

function addSession({ address, now }: TestWallet): Call {
  const session = {
    sessionKey: SESSION,
    validUntil: now + 1_000n,
    maxCalls: 100n,
    allowedEntrypoints: [selector('transfer')],
  };
  return call(address, 'add_or_update_session_key', encodeAddOrUpdateSessionKey(session));
}

function setPolicy({ address }: TestWallet): Call {
  const limits = { maxPerCall: 50n, maxPerWindow: 80n, windowSeconds: 100n };
  return call(address, 'set_spending_policy', encodeSetSpendingPolicy({ sessionKey: SESSION, token: USDC, ...limits }));
}

async function configure(...calls: ((wallet: TestWallet) => Call)[]): Promise<Executed> {
  const { wallet } = await open();
  return send(
    wallet,
    calls.map((one) => one(wallet)),
  );
}

async function removePolicy(): Promise<Executed> {
  const { wallet, known } = await open();
  const validUntil = await wallet.addSession();
  await wallet.setPolicy();
  await send(wallet, [known], validUntil);
  return send(wallet, [call(wallet.address, 'remove_spending_policy', [SESSION, USDC])]);
}

async function revokeSession(): Promise<Executed> {
  const { wallet } = await open();
  await wallet.addSession({ allowedEntrypoints: [selector('transfer')] });
  return send(wallet, [call(wallet.address, 'revoke_session_key', [SESSION])]);
}

async function upgradeReady(): Promise<Executed> {
  const { wallet } = await open(classes.ready);
  return send(wallet, [call(wallet.address, 'upgrade', [classes.svc, 0n])]);
}

interface Row {
  readonly operation: string;
  readonly l2Gas: number;
  readonly l1DataGas: number;
  readonly run: () => Promise<Executed>;
}

/** Measured on starknet-devnet 0.10.1 (Starknet 0.14.4) with the compiled class. */
// biome-ignore format: a table
const rows: readonly Row[] = [
  { operation: 'payer: no calls',                       l2Gas:    775_360, l1DataGas:   128, run: () => new TestChain().must(relayer, []) },
  { operation: 'payer: transfer to a known recipient',  l2Gas:  1_487_040, l1DataGas:   320, run: () => pay('known') },
  { operation: 'payer: transfer to a fresh recipient',  l2Gas:  1_889_040, l1DataGas:   320, run: () => pay('fresh') },
  { operation: 'payout of 10 to fresh recipients',      l2Gas: 11_472_160, l1DataGas:   896, run: () => pay('fresh', 10) },
  { operation: 'payout of 60 to fresh recipients',      l2Gas: 64_756_160, l1DataGas: 4_096, run: () => pay('fresh', 60) },
  { operation: 'universal deployer deploys SVC',        l2Gas:  1_764_880, l1DataGas:   288, run: () => new TestChain().must(relayer, [deployCall]) },
  { operation: 'service creates an SVC wallet',         l2Gas:  2_663_200, l1DataGas:   352, run: createWallet },
  { operation: 'SVC transaction: 1 transfer',           l2Gas:  1_327_040, l1DataGas:   320, run: () => transaction(1) },
  { operation: 'SVC transaction: 2 transfers',          l2Gas:  1_918_720, l1DataGas:   320, run: () => transaction(2) },
  { operation: 'outside execution: no call',            l2Gas:  1_713_680, l1DataGas:   256, run: () => relayed(0) },
  { operation: 'outside execution: 1 transfer',         l2Gas:  2_385_360, l1DataGas:   448, run: () => relayed(1) },
  { operation: 'outside execution: 10 transfers',       l2Gas:  7_870_480, l1DataGas:   448, run: () => relayed(10) },
  { operation: 'session: 1 transfer',                   l2Gas:  3_235_600, l1DataGas:   512, run: () => bySession(1, false) },
  { operation: 'session with policy: 1 transfer',       l2Gas:  3_755_600, l1DataGas:   576, run: () => bySession(1, true) },
  { operation: 'session with policy: 2 transfers',      l2Gas:  5_107_280, l1DataGas:   576, run: () => bySession(2, true) },
  { operation: 'add a session with a list of 1',        l2Gas:  5_037_360, l1DataGas:   640, run: () => configure(addSession) },
  { operation: 'set a policy',                          l2Gas:  4_229_200, l1DataGas:   512, run: () => configure(setPolicy) },
  { operation: 'add a session and set its policy',      l2Gas:  7_552_880, l1DataGas:   896, run: () => configure(addSession, setPolicy) },
  { operation: 'remove a policy',                       l2Gas:  2_570_000, l1DataGas:   576, run: removePolicy },
  { operation: 'revoke a session',                      l2Gas:  2_234_640, l1DataGas:   448, run: revokeSession },
  { operation: 'upgrade READY to SVC',                  l2Gas:  3_112_480, l1DataGas:   416, run: upgradeReady },
  { operation: 'reverted above its policy',             l2Gas:  1_112_640, l1DataGas:   128, run: () => bySession(1, true, 51n) },
];

describe('gas is within a tenth of what devnet measured, and data gas the same:', () => {
  it.each(rows)('$operation', async ({ operation, l2Gas, l1DataGas, run }) => {
    const { status, gas } = await run();
    expect(status).toBe(operation.startsWith('reverted') ? 'REVERTED' : 'SUCCEEDED');
    expect(Number(gas.l1DataGas)).toBe(l1DataGas);
    expect(Math.abs(Number(gas.l2Gas) / l2Gas - 1)).toBeLessThan(0.1);
  });
});

describe('data gas', () => {
  it('counts neither the fee token nor the sender’s balance of it twice', async () => {
    const chain = new TestChain();
    const { gas } = await chain.must(relayer, [transfer(STRK, predeployed.manager.address, 1n)]);
    expect(gas.l1DataGas).toBe(128n + 64n);
  });
});
