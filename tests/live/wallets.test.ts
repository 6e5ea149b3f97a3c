import { classes, toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCasmRecord } from '../../contracts/casm/verify.ts';
import { hashOf, Owner, transferOf } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import { send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { STRK, USDC } from '../support/starknet-client.ts';
import { blockModes } from './support/devnet.ts';
import { LiveService } from './support/live-service.ts';

describe.each(blockModes)('with %s', (_, blocks) => {
  let live: LiveService;
  beforeAll(async () => {
    live = await LiveService.start(blocks);
  });
  afterAll(() => live?.stop());

  it('the committed classes are declared, with the hashes that are known and recorded', async () => {
    const { declared } = live.devnet;
    expect(declared.map(({ classHash }) => classHash)).toEqual([classes.svc, classes.treasury]);
    const compiled = declared.map(({ file, compiledClassHash }) => [file, BigInt(compiledClassHash)]);
    const recorded = Object.entries((await readCasmRecord()).classes).map(([file, hash]) => [file, BigInt(hash)]);
    expect(compiled).toEqual(recorded);
  });

  it('the service is ready', async () => {
    const ready = await eventually(
      () => send(`${live.service.server.origin}/readyz`),
      ({ status }) => status === 200,
    );
    expect(ready.body).toMatchObject({ status: 'ok' });
  });

  it.each([
    ['SVC', classes.svc],
    ['READY', classes.ready],
  ] as const)('a wallet of type %s is made for nothing, receives, and sends', async (walletType, classHash) => {
    const owner = await live.wallet({ classHash, usdc: '10' });
    expect(await live.classAt(owner.address)).toBe(classHash);
    expect(await live.app.balance(owner.address, 'STRK')).toBe(0n);
    const recipient = live.newRecipient();
    const sent = await live.ended(await live.app.execute(owner, [transferOf(USDC, recipient, 2_500_000n)]));
    expect(sent).toMatchObject({ status: 'SUCCESS', type: 'SEND', token: 'USDC', amount: '2500000' });
    expect(await live.app.balance(recipient, 'USDC')).toBe(2_500_000n);
    expect(await live.app.balance(owner.address, 'USDC')).toBe(7_500_000n);
    expect(owner.walletType).toBe(walletType);
  });

  it('several calls happen together, or none does', async () => {
    const owner = await live.wallet({ usdc: '3' });
    await live.devnet.faucet(owner.address, 'STRK', '1');
    const [first, second] = [live.newRecipient(), live.newRecipient()];
    const calls = [transferOf(USDC, first, 1_000_000n), transferOf(STRK, second, 5n)];
    expect(await live.ended(await live.app.execute(owner, calls))).toMatchObject({ status: 'SUCCESS' });
    expect(await live.app.balance(first, 'USDC')).toBe(1_000_000n);
    expect(await live.app.balance(second, 'STRK')).toBe(5n);
    const tooMuch = [transferOf(USDC, first, 1_000_000n), transferOf(STRK, second, 10n ** 18n)];
    expectError(await live.app.execute(owner, tooMuch), 400, 'transaction_reverted');
    expect(await live.app.balance(first, 'USDC')).toBe(1_000_000n);
  });

  it('a transfer without the money is refused with the reason of the token', async () => {
    const owner = await live.wallet({ usdc: '1' });
    const refused = await live.app.execute(owner, [transferOf(USDC, live.newRecipient(), 1_000_001n)]);
    expectError(refused, 400, 'transaction_reverted');
    expect(refused.text).toMatch(/insufficient balance|u256_sub Overflow/i);
  });

  it('a signature of another key is refused', async () => {
    const owner = await live.wallet({ usdc: '1' });
    const message = await live.app.prepare(owner.address, [transferOf(USDC, '0xbad', 1n)]);
    const body = { publicKey: owner.address, typedData: message };
    const signed = { ...body, userSignature: new Owner().sign(message, owner.address) };
    const refused = await live.app.post('/transactions/execute-sponsored-transaction', signed);
    expectError(refused, 400, 'invalid_signature');
  });

  it('money that arrives is in the history', async () => {
    const owner = await live.wallet({ usdc: '4' });
    const list = () => live.app.get(`/transactions?walletAddress=${owner.address}`);
    const found = await eventually(list, ({ text }) => text.includes('RECEIVE'));
    expect(found.text).toContain('"4000000"');
  });

  it('16 transfers of one wallet at once all arrive, each once', async () => {
    const owner = await live.wallet({ usdc: '16' });
    const recipients = Array.from({ length: 16 }, () => live.newRecipient());
    const replies = await Promise.all(
      recipients.map((recipient) => live.app.execute(owner, [transferOf(USDC, recipient, 1_000_000n)])),
    );
    expect(new Set(replies.map(hashOf)).size).toBe(16);
    for (const reply of replies) expect(await live.ended(reply)).toMatchObject({ status: 'SUCCESS' });
    for (const recipient of recipients) expect(await live.app.balance(recipient, 'USDC')).toBe(1_000_000n);
    expect(await live.app.balance(owner.address, 'USDC')).toBe(0n);
  });

  it('an upgrade leads from READY to SVC, and keeps address, owner and money', async () => {
    const owner = await live.wallet({ classHash: classes.ready, usdc: '3' });
    const prepared = await live.app.post('/svc-wallets/prepare-upgrade', { walletAddress: owner.address });
    const { typedData, targetClassHash } = prepared.body as { typedData: object; targetClassHash: string };
    expect(BigInt(targetClassHash)).toBe(classes.svc);
    const { r, s } = owner.sign(typedData);
    const upgrade = { walletAddress: owner.address, typedData, signature: [r, s] };
    expect(await live.app.post('/svc-wallets/upgrade', upgrade)).toMatchObject({ status: 200 });
    const upgraded = await eventually(
      () => live.classAt(owner.address),
      (found) => found === classes.svc,
    );
    expect(toHex(upgraded ?? 0n)).toBe(toHex(classes.svc));
    const recipient = live.newRecipient();
    const sent = await live.ended(await live.app.execute(owner, [transferOf(USDC, recipient, 3_000_000n)]));
    expect(sent).toMatchObject({ status: 'SUCCESS' });
    expect(await live.app.balance(recipient, 'USDC')).toBe(3_000_000n);
  });
});
