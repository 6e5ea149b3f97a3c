import { secp256k1 } from '@noble/curves/secp256k1';
import { keccak_256 } from '@noble/hashes/sha3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BridgeClient } from '../../testing/bridge-client.ts';
import { HOOK, OWNER, TOKEN_ACCOUNT } from '../../testing/bridge-fixtures.ts';
import { type SandboxServer, startSandbox } from '../../testing/sandbox-server.ts';
import { attesterPublicKey } from './attestation.ts';
import { decodeMessage } from './cctp-message.ts';

let server: SandboxServer;
let burner: BridgeClient;
beforeAll(async () => {
  server = await startSandbox();
  burner = await BridgeClient.at(server);
});
afterAll(async () => {
  expect(server.complaints).toEqual([]);
  await server.stop();
});

const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex');

/** Far apart, so that the duration of a test does not matter. */
const slow = { indexedSeconds: 1_000, fastSeconds: 2_000, standardSeconds: 20_000, forwardSeconds: 2_000 };

describe('a burn made with starknet.js', () => {
  it('is unknown, heard of, attested, confirmed and complete, as time passes', async () => {
    await burner.ask('/bridge/settings', { ...slow, requestsPerSecond: 1_000 });
    const before = await burner.balance(OWNER);
    const hash = await burner.burn();
    expect(await burner.messages(hash)).toMatchObject({ status: 404, body: { code: 404, error: expect.any(String) } });
    await burner.passTime(1_000);
    const pending = await burner.message(hash);
    expect(pending).toMatchObject({
      message: '0x',
      attestation: 'PENDING',
      status: 'pending_confirmations',
      delayReason: null,
      forwardState: null,
    });
    await burner.passTime(1_000);
    const attested = await burner.message(hash);
    expect(attested).toMatchObject({ status: 'complete', forwardState: 'PENDING', forwardTxHash: null });
    expect(await burner.balance(OWNER)).toBe(before);
    await burner.passTime(1_000);
    const confirmed = await burner.message(hash);
    expect(confirmed).toMatchObject({ forwardState: 'CONFIRMED', forwardTxHash: expect.stringMatching(/^\w{64,88}$/) });
    await burner.passTime(1_000);
    expect(await burner.message(hash)).toEqual({ ...confirmed, forwardState: 'COMPLETE' });
    expect(await burner.balance(OWNER)).toBe(before + 999_870n);
    expect(attested).toMatchObject({ eventNonce: pending.eventNonce, message: confirmed.message });
  });

  it("carries the chain's own message with what the service fills in, signed by the attester", async () => {
    await burner.instantly();
    const shown = await burner.message(await burner.burn({ amount: 2_000_001n }));
    const message = bytesOf(shown.message);
    const fields = decodeMessage(message);
    expect(fields).toMatchObject({
      sourceDomain: 25n,
      destinationDomain: 5n,
      nonce: BigInt(shown.eventNonce),
      sender: 0x07d421b9ca8aa32df259965cda8acb93f7599f69209a41872ae84638b2a20f2an,
      minFinalityThreshold: 1_000n,
      finalityThresholdExecuted: 1_000n,
      amount: 2_000_001n,
      maxFee: 500n,
      feeExecuted: 261n,
    });
    expect(Buffer.from(fields?.hookData ?? []).equals(HOOK)).toBe(true);
    const { body: slot } = await burner.ask<{ solanaSlot: string }>('/bridge');
    expect(fields?.expirationBlock).toBeGreaterThan(BigInt(slot.solanaSlot));
    const attestation = bytesOf(shown.attestation);
    const valid = secp256k1.verify(attestation.subarray(0, 64), keccak_256(message), attesterPublicKey());
    expect([attestation.length, valid]).toEqual([65, true]);
    const { decodedMessageBody, destinationDomain } = shown.decodedMessage ?? {};
    expect(destinationDomain).toBe('5');
    expect(decodedMessageBody).toMatchObject({ amount: '2000001', feeExecuted: '261', maxFee: '500' });
  });

  it('is found by any spelling of its hash', async () => {
    await burner.instantly();
    const hash = await burner.burn();
    const digits = hash.slice(2);
    const padded = digits.padStart(64, '0');
    const shown = await burner.message(hash);
    for (const spelling of [`0x${padded}`, `0x${padded.toUpperCase()}`, `0X${digits.toUpperCase()}`]) {
      expect(await burner.message(spelling)).toEqual(shown);
    }
    for (const wrong of ['', 'nonsense', '0x', `0x1${padded}`]) expect((await burner.messages(wrong)).status).toBe(400);
    const elsewhere = await burner.ask(`/bridge/v2/messages/7?transactionHash=${hash}`);
    expect(elsewhere.status).toBe(404);
  });

  it('has a nonce of its own in a transaction of several, and each is paid', async () => {
    await burner.instantly();
    const before = await burner.balance(TOKEN_ACCOUNT);
    const { body } = await burner.messages(await burner.burn({ times: 3 }));
    expect(new Set(body.messages.map(({ eventNonce }) => eventNonce)).size).toBe(3);
    expect(new Set(body.messages.map(({ forwardTxHash }) => forwardTxHash)).size).toBe(3);
    expect(await burner.balance(TOKEN_ACCOUNT)).toBe(before + 3n * 999_870n);
  });

  it('takes hours the standard way and costs nothing', async () => {
    await burner.ask('/bridge/settings', slow);
    const hash = await burner.burn({ threshold: 2_000 });
    await burner.passTime(19_000);
    expect((await burner.message(hash)).status).toBe('pending_confirmations');
    await burner.passTime(1_000);
    const { status, decodedMessage } = await burner.message(hash);
    expect(status).toBe('complete');
    expect(decodedMessage).toMatchObject({
      finalityThresholdExecuted: '2000',
      decodedMessageBody: { feeExecuted: '0', expirationBlock: '0' },
    });
  });

  it('is not forwarded without a hook or for another account, and nothing is minted', async () => {
    await burner.instantly();
    const before = await burner.balance(OWNER);
    const unhooked = await burner.message(await burner.burn({ hook: null }));
    expect(unhooked).toMatchObject({ status: 'complete', forwardState: null, forwardTxHash: null });
    const stray = await burner.message(await burner.burn({ recipient: [1n, 2n] }));
    expect(stray).toMatchObject({ status: 'complete', forwardState: 'FAILED', forwardTxHash: null });
    expect(await burner.balance(OWNER)).toBe(before);
  });

  it('is minted without a query for its message', async () => {
    await burner.instantly();
    const before = await burner.balance(OWNER);
    await burner.burn();
    expect(await burner.balance(OWNER)).toBe(before + 999_870n);
  });
});

describe('what is no burn', () => {
  it('is not attested: a message sent without a burn', async () => {
    await burner.instantly();
    const shown = await burner.message(await burner.burn());
    const body = bytesOf(shown.message).subarray(148);
    const before = await burner.balance(OWNER);
    const forged = await burner.sendMessage(body);
    expect((await burner.messages(forged)).status).toBe(404);
    expect((await burner.messages(await burner.sendMessage(Buffer.from('hello')))).status).toBe(404);
    expect(await burner.balance(OWNER)).toBe(before);
  });

  it('is not attested: a burn in a block that is still open, until the block is there', async () => {
    await burner.instantly();
    await burner.ask('/starknet/block-time', { seconds: 3_600 });
    const hash = await burner.burn();
    expect((await burner.messages(hash)).status).toBe(404);
    await burner.ask('/starknet/mine', { blocks: 1 });
    expect((await burner.message(hash)).status).toBe('complete');
    await burner.ask('/starknet/block-time', { seconds: 0 });
  });

  it('is not attested: a burn that was reorganised away; when it comes back it is paid once', async () => {
    await burner.instantly();
    const before = await burner.balance(OWNER);
    const lost = await burner.burn();
    await burner.ask('/starknet/reorg', { blocks: 1, transactions: 'drop' });
    expect((await burner.messages(lost)).status).toBe(404);
    expect(await burner.balance(OWNER)).toBe(before);

    const kept = await burner.burn({ amount: 3_000_000n });
    const shown = await burner.message(kept);
    const paid = await burner.balance(OWNER);
    expect(paid).toBe(before + 2_999_610n);
    await burner.ask('/starknet/reorg', { blocks: 1, transactions: 'requeue' });
    expect(await burner.message(kept)).toEqual(shown);
    expect(await burner.balance(OWNER)).toBe(paid);
    await burner.ask('/starknet/reorg', { blocks: 1, transactions: 'drop' });
    expect((await burner.messages(kept)).status).toBe(404);
    expect((await burner.ask(`/bridge/v2/reattest/${shown.eventNonce}`, {})).status).toBe(404);
  });
});

describe("the sandbox's Solana", () => {
  it('shows an account by its owner and by its own address, with the transaction that paid it', async () => {
    await burner.instantly();
    const { forwardTxHash, eventNonce } = await burner.message(await burner.burn());
    const byOwner = await burner.ask<{ balance: string }>(`/bridge/solana/accounts/${OWNER}`);
    expect(byOwner.body).toEqual({ owner: OWNER, tokenAccount: TOKEN_ACCOUNT, balance: byOwner.body.balance });
    expect(await burner.ask(`/bridge/solana/accounts/${TOKEN_ACCOUNT}`)).toEqual(byOwner);
    expect((await burner.ask(`/bridge/solana/transactions/${forwardTxHash}`)).body).toEqual({
      signature: forwardTxHash,
      nonce: eventNonce,
      owner: OWNER,
      tokenAccount: TOKEN_ACCOUNT,
      amount: '999870',
      slot: expect.stringMatching(/^\d+$/),
      blockTime: expect.any(Number),
    });
  });

  it('has empty accounts for everyone else, and refuses what is no address', async () => {
    const owner = 'CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe';
    const { body } = await burner.ask<{ tokenAccount: string }>(`/bridge/solana/accounts/${owner}`);
    expect(body).toMatchObject({ balance: '0' });
    expect((await burner.ask('/bridge/solana/accounts/0x1')).status).toBe(400);
    expect((await burner.ask('/bridge/solana/transactions/1')).status).toBe(404);
  });
});

describe('the fees', () => {
  it('are those that burns pay, and follow the settings', async () => {
    await burner.instantly();
    const fees = () => burner.ask('/bridge/v2/burn/USDC/fees/25/5');
    expect((await fees()).body).toEqual([
      { finalityThreshold: 1_000, minimumFee: 1.3 },
      { finalityThreshold: 2_000, minimumFee: 0 },
    ]);
    await burner.ask('/bridge/settings', { fastFeePerMillion: 1_400, forwardFee: 20 });
    expect((await burner.ask('/bridge/v2/burn/USDC/fees/25/5?forward=true')).body).toEqual([
      { finalityThreshold: 1_000, minimumFee: 14, forwardFee: { low: 20, med: 20, high: 20 } },
      { finalityThreshold: 2_000, minimumFee: 0, forwardFee: { low: 20, med: 20, high: 20 } },
    ]);
    const { decodedMessage } = await burner.message(await burner.burn({ maxFee: 2_000n }));
    expect(decodedMessage?.decodedMessageBody.feeExecuted).toBe('1420');
    await burner.ask('/bridge/settings', { fastFeePerMillion: 130, forwardFee: 0 });
    expect((await burner.ask('/bridge/v2/burn/USDC/fees/5/25')).status).toBe(404);
  });
});
