import { createSolanaRpc, signature } from '@solana/kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BridgeClient } from '../../testing/bridge-client.ts';
import { OWNER, TOKEN_ACCOUNT } from '../../testing/bridge-fixtures.ts';
import { type SandboxServer, startSandbox } from '../../testing/sandbox-server.ts';
import { USDC_MINT } from './solana-address.ts';

let server: SandboxServer;
let burner: BridgeClient;
beforeAll(async () => {
  server = await startSandbox();
  burner = await BridgeClient.at(server);
  await burner.instantly();
});
afterAll(() => server.stop());

const options = { commitment: 'confirmed', encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 } as const;
const node = () => createSolanaRpc(`${server.url}/bridge/solana/rpc`);
const minted = async () => signature((await burner.message(await burner.burn())).forwardTxHash ?? '');

it('mints are shown to the library of Solana, each with what its account held before and after', async () => {
  const first = await minted();
  const found = await node().getTransaction(first, options).send();
  expect(found?.transaction.signatures).toEqual([first]);
  expect(found?.transaction.message.accountKeys[1]?.pubkey).toBe(TOKEN_ACCOUNT);
  const after = { accountIndex: 1, mint: USDC_MINT, owner: OWNER };
  expect(found?.meta).toMatchObject({ err: null, postTokenBalances: [after] });
  await minted();
  const again = await node().getTransaction(first, options).send();
  expect(again?.meta?.postTokenBalances).toEqual(found?.meta?.postTokenBalances);
});

it('mints of the same moment follow each other, each with what the one before it left', async () => {
  const signatures = [];
  for (let count = 0; count < 6; count += 1) signatures.push(await minted());
  const shown = await Promise.all(signatures.map((one) => node().getTransaction(one, options).send()));
  const balances = shown.map((one) => [one?.meta?.preTokenBalances?.[0], one?.meta?.postTokenBalances?.[0]]);
  const [before, after] = [0, 1].map((side) => balances.map((both) => both[side]?.uiTokenAmount.amount));
  expect(before?.slice(1)).toEqual(after?.slice(0, -1));
});

it('a signature that is not on the chain has no transaction, and what is not served is refused', async () => {
  const unknown = signature('5'.repeat(88));
  expect(await node().getTransaction(unknown, options).send()).toBeNull();
  expect(await node().getGenesisHash().send()).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
  await expect(
    node()
      .getTransaction(unknown, { ...options, encoding: 'base64' })
      .send(),
  ).rejects.toThrow('jsonParsed');
  await expect(node().getHealth().send()).rejects.toThrow('Method not found');
});
