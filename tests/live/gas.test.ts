import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { TreasuryProposal } from '@svc/protocol';
import { classes, toHex } from '@svc/starknet';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bodyOf, type ContractCall, field, hashOf, Owner, SessionKey, transferOf } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { claimAt } from '../support/gifts.ts';
import { USDC } from '../support/starknet-client.ts';
import { newTreasury, pathOf, propose, signAs } from '../support/treasuries.ts';
import { LiveService } from './support/live-service.ts';

const HOUR = 3_600;
const GUIDE = path.resolve(import.meta.dirname, '../../docs/live.md');

let live: LiveService;
beforeAll(async () => {
  live = await LiveService.start('transaction');
});
afterAll(() => live?.stop());

interface Gas {
  readonly l2_gas: number;
  readonly l1_data_gas: number;
}

async function gasOf(hash: string): Promise<[l2Gas: number, dataGas: number]> {
  const { result } = await eventually(
    () => live.devnet.rpc('getTransactionReceipt', { transaction_hash: hash }),
    (answer) => answer.result !== undefined,
  );
  const { l2_gas, l1_data_gas } = (result as { execution_resources: Gas }).execution_resources;
  return [l2_gas, l1_data_gas];
}

/** Of L2 gas. */
const TOLERANCE = 0.02;

/** The row of the guide where it fits, else as measured. */
function rowOf(listed: readonly string[], [name, l2Gas, dataGas]: readonly [string, number, number]): string {
  const row = listed.find((line) => line.startsWith(`| ${name} |`)) ?? '';
  const [l2 = 0, data = 0] = row
    .split(' | ')
    .slice(1)
    .map((cell) => Number(cell.replace(/[, |]/g, '')));
  const fits = Math.abs(l2 - l2Gas) <= TOLERANCE * l2Gas && data === dataGas;
  return fits ? row : `| ${name} | ${l2Gas.toLocaleString('en')} | ${dataGas} |`;
}

it('operations of the service cost the gas that the guide lists', async () => {
  const { app } = live;
  const measured: [string, number, number][] = [];
  const measure = async (name: string, hash: string) => measured.push([name, ...(await gasOf(hash))]);
  const done = async (owner: Owner, calls: readonly ContractCall[]) => {
    const reply = await app.execute(owner, calls);
    await live.ended(reply);
    return hashOf(reply);
  };
  for (const classHash of [classes.svc, classes.ready]) {
    const owner = new Owner(classHash);
    const { txHash } = await app.createWallet(owner, live.newUser(), owner.walletType);
    await measure(`creation of a wallet: ${owner.walletType}`, String(txHash));
  }
  const owner = await live.wallet();
  const recipient = live.newRecipient();
  await measure('transfer to a fresh recipient', await done(owner, [transferOf(USDC, recipient, 1n)]));
  await measure('transfer to a known recipient', await done(owner, [transferOf(USDC, recipient, 1n)]));
  const ten = Array.from({ length: 10 }, () => transferOf(USDC, recipient, 1n));
  await measure('10 transfers to a known recipient', await done(owner, ten));
  const session = new SessionKey(BigInt(Math.floor(Date.now() / 1_000) + HOUR));
  const own = (entrypoint: string, calldata: string[]) => [{ contractAddress: owner.address, entrypoint, calldata }];
  const terms = [session.publicKey, toHex(session.validUntil), '0x64', '0x0'];
  await measure('session added', await done(owner, own('add_or_update_session_key', terms)));
  const limits = [session.publicKey, USDC, '0x64', '0x0', '0xffff', '0x0', toHex(BigInt(HOUR))];
  await measure('policy set', await done(owner, own('set_spending_policy', limits)));
  const bySession = await app.executeWithSession(owner.address, session, [transferOf(USDC, recipient, 1n)]);
  await live.ended(bySession);
  await measure('transfer by a session with a policy', hashOf(bySession));
  const ready = await live.wallet({ classHash: classes.ready });
  const prepared = await app.post('/svc-wallets/prepare-upgrade', { walletAddress: ready.address });
  const typedData = field<object>(prepared, 'typedData');
  const { r, s } = ready.sign(typedData);
  const upgrade = { walletAddress: ready.address, typedData, signature: [r, s] };
  await measure('upgrade from READY to SVC', hashOf(await app.post('/svc-wallets/upgrade', upgrade)));
  const { code } = await app.gift({ amount: 1 });
  const claim = { code, chain: 'starknet', walletAddress: live.newRecipient() } as const;
  const { giftRedeem } = bodyOf<{ giftRedeem: { transactionHash: string } }>(
    await claimAt(live.service.server, claim),
    201,
  );
  await measure('payout of a gift to a fresh recipient', giftRedeem.transactionHash);
  const signers = [new Owner(), new Owner(), new Owner()];
  const treasury = await newTreasury(app, { signers, threshold: 2 });
  await live.devnet.faucet(treasury.address, 'USDC', '10');
  const transfers = [{ token: 'USDC', recipient, amount: '1' }];
  const proposal = await propose(app, treasury, { transfers });
  for (const signer of signers.slice(0, 2)) bodyOf(await signAs(app, treasury, proposal, signer), 200);
  bodyOf(await app.post(`${pathOf(proposal)}/execute`, {}), 200);
  const { executedTxHash } = await eventually(
    async () => bodyOf<TreasuryProposal>(await app.get(pathOf(proposal)), 200),
    ({ state }) => state === 'EXECUTED',
  );
  await measure('payment of a treasury, 2 of 3', executedTxHash ?? '');
  const [, table = ''] = /## Gas\n([\s\S]*?)\n## /.exec(readFileSync(GUIDE, 'utf8')) ?? [];
  const listed = table.split('\n').filter((line) => /^\| .* \| [\d,]+ \| \d+ \|$/.test(line));
  expect(measured.map((each) => rowOf(listed, each))).toEqual(listed);
});
