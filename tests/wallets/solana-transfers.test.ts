import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../packages/sdk/src/client/client.ts';
import {
  getSolanaTransfer,
  burnCalls as libraryCalls,
  listSolanaTransfers,
  moveToSolana,
  quoteSolanaTransfer,
  type SignedSolanaTransfer,
  sendSolanaTransfer,
  waitForSolanaTransfer,
} from '../../packages/sdk/src/solana-transfers.ts';
import { type CreatedWallet, createWallet } from '../../packages/sdk/src/wallets.ts';
import { FakeAuthenticator } from '../../packages/sdk/testing/fake-authenticator.ts';
import { userToken } from '../support/client.ts';
import { newSolanaWallet } from '../support/gifts.ts';
import { type AnyService, TestService } from '../support/service.ts';

/** Several polls of the bridge, on a busy machine. */
const EACH_MS = 180_000;
const encryptKey = `prf1.${Buffer.alloc(32, 7).toString('base64url')}`;
const quick = () => ({ encryptKey, usePasskey: true, passkey: { credentials: new FakeAuthenticator() } });

let service: AnyService;
let wallet: CreatedWallet;
let user: string;
const asServer = () => {
  const { publicKey, secretKey } = service.server.credentials;
  return createClient({ baseUrl: `${service.server.origin}/v1`, publicKey, secretKey });
};
const asUser = async (name: string) => {
  const { publicKey } = service.server.credentials;
  const bearerToken = await userToken(service.server, name);
  return createClient({ baseUrl: `${service.server.origin}/v1`, publicKey, bearerToken });
};

beforeAll(async () => {
  service = await TestService.shared();
  user = `solana-${crypto.randomUUID()}`;
  wallet = await createWallet(asServer(), { ...quick(), externalUserId: user, chain: 'STARKNET' });
  await service.sandbox.faucet(wallet.publicKey, 'USDC', '100');
}, EACH_MS);
afterAll(() => service?.stop());

describe('USDC that a user moves to Solana', { timeout: EACH_MS }, () => {
  it('leaves the wallet once, also where the answer is lost, and arrives at a wallet without a token account', async () => {
    const client = await asUser(user);
    const recipient = newSolanaWallet();
    const before = await service.app.balance(wallet.publicKey, 'USDC');
    const quote = await quoteSolanaTransfer(client, { wallet, recipient, amount: '5' });
    const stored: string[] = [];
    const order = { encryptKey, wallet, recipient, amount: '5', maxFee: quote.maxFee };
    const transfer = await moveToSolana(client, {
      ...order,
      onSigned: (state) => void stored.push(JSON.stringify(state)),
    });
    const again = await sendSolanaTransfer(client, JSON.parse(stored[0] ?? '') as SignedSolanaTransfer);
    expect(again.id).toBe(transfer.id);
    const end = await waitForSolanaTransfer(client, { id: transfer.id, retryIntervalMs: 500, timeoutMs: EACH_MS });
    expect(end).toMatchObject({ status: 'SUCCESS', receiveProof: 'CHAIN', received: quote.arrives, fee: quote.fee });
    expect(await service.app.balance(wallet.publicKey, 'USDC')).toBe(before - 5_000_000n);
    const { balance } = await service.sandbox.ask<{ balance: string }>(`/bridge/solana/accounts/${recipient}`);
    expect(Number(balance)).toBe(Number(quote.arrives) * 1e6);
    const { items } = await listSolanaTransfers(client, { walletAddress: wallet.publicKey });
    expect(items.filter((item) => item.recipient === recipient)).toEqual([end]);
  });

  it("is nobody else's to read, to quote or to move", async () => {
    const recipient = newSolanaWallet();
    const own = await moveToSolana(await asUser(user), { encryptKey, wallet, recipient, amount: '1' });
    const stranger = await asUser(`stranger-${crypto.randomUUID()}`);
    const missing = { code: 'solana_transfer_not_found', status: 404 };
    await expect(getSolanaTransfer(stranger, { id: own.id })).rejects.toMatchObject(missing);
    await expect(getSolanaTransfer(stranger, { id: 'slt_missing' })).rejects.toMatchObject(missing);
    for (const work of [
      () => quoteSolanaTransfer(stranger, { wallet, recipient, amount: '5' }),
      () => listSolanaTransfers(stranger, { walletAddress: wallet.publicKey }),
      () => moveToSolana(stranger, { encryptKey, wallet, recipient, amount: '5' }),
    ]) {
      await expect(work()).rejects.toMatchObject({ code: 'wallet_not_found', status: 404 });
    }
  });

  it('has the calls that the library makes by itself from the order', async () => {
    const recipient = newSolanaWallet();
    const quote = await quoteSolanaTransfer(asServer(), { wallet, recipient, amount: '5' });
    const raw = (text: string) => BigInt(Math.round(Number(text) * 1e6));
    const made = await libraryCalls({
      ...{ amount: 5_000_000n, maxFee: raw(quote.maxFee), recipient, fast: true, usdcMint: quote.usdcMint },
      ...{ usdc: BigInt(quote.calls[0]?.contractAddress ?? 0), tokenMessenger: BigInt(quote.tokenMessenger) },
    });
    const felts = (calls: readonly { calldata: readonly unknown[] }[]) =>
      calls.map(({ calldata }) => calldata.map((felt) => BigInt(String(felt))));
    expect(felts(made)).toEqual(felts(quote.calls));
  });

  it('stays where it is when the address, the amount or the fee is wrong', async () => {
    const client = asServer();
    const before = await service.app.balance(wallet.publicKey, 'USDC');
    const order = { encryptKey, wallet, recipient: newSolanaWallet(), amount: '5' };
    const refused = (changes: Partial<typeof order> & { maxFee?: string }, code: string) =>
      expect(moveToSolana(client, { ...order, ...changes })).rejects.toMatchObject({ code });
    await refused({ recipient: wallet.publicKey }, 'invalid_input');
    // A token account.
    await refused({ recipient: 'FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B' }, 'invalid_input');
    await refused({ amount: '0.000001' }, 'amount_below_fee');
    await refused({ amount: '1000000' }, 'transaction_reverted');
    await refused({ maxFee: '0.000001' }, 'bridge_fee_changed');
    await refused({ maxFee: '5' }, 'invalid_input');
    expect(await service.app.balance(wallet.publicKey, 'USDC')).toBe(before);
  });
});
