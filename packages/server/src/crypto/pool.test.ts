import { setImmediate as immediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import {
  accountAddress,
  contractAddress,
  invokeHash,
  outsideExecutionHash,
  sign,
  starkKey,
  toHex,
  walletClasses,
} from '@svc/starknet';
import { afterAll, describe, expect, it } from 'vitest';
import { account, chainId, deployment, execution, fields } from '../../testing/crypto/values.ts';
import { startCrypto } from './pool.ts';

const key = 0x2dccce1da22003777062ee0870e9881b460a8b7eca276870f57c601f182136cn;
const hash = outsideExecutionHash(2, execution, account, chainId);
const check = { execution, account, chainId, signature: sign(hash, key) };
/** Takes a thread so long that nobody mistakes it for a short one. */
const longExecution = { ...execution, calls: [{ to: 5n, selector: 6n, calldata: new Array<bigint>(2_000).fill(9n) }] };

const crypto = startCrypto({ threads: 1 });
afterAll(() => crypto.stop());

describe('the threads of cryptography', () => {
  it('sign an invoke transaction', async () => {
    const { r, s } = sign(invokeHash(fields), key);
    expect(await crypto.signInvoke(fields, key)).toEqual({ hash: invokeHash(fields), signature: [r, s] });
  });

  it('find who signed an execution, the first of the keys', async () => {
    const owner = starkKey(key);
    const stranger = starkKey(5n);
    expect(await crypto.checkExecution({ ...check, keys: [stranger, owner] })).toEqual({ hash, signer: owner });
    expect(await crypto.checkExecution({ ...check, keys: [stranger] })).toEqual({ hash, signer: undefined });
    expect(await crypto.checkExecution({ ...check, keys: [] })).toEqual({ hash, signer: undefined });
  });

  it('hash and sign an execution', async () => {
    expect(await crypto.executionHash(execution, account, chainId)).toBe(hash);
    const { r, s } = sign(hash, key);
    expect(await crypto.signExecution(execution, account, chainId, key)).toEqual({ hash, signature: [r, s] });
  });

  it('tell where contracts and accounts come to stand', async () => {
    const classHashes = walletClasses.map(({ classHash }) => classHash);
    expect(await crypto.contractAddress(deployment)).toBe(contractAddress(deployment));
    expect(await crypto.accountAddresses(classHashes, 77n)).toEqual(
      classHashes.map((classHash) => accountAddress(classHash, 77n)),
    );
    expect(await crypto.accountAddresses([], 77n)).toEqual([]);
  });

  it('answer many questions on several threads, each with its own answer', async () => {
    const several = startCrypto({ threads: 2 });
    const salts = Array.from({ length: 40 }, (_, i) => BigInt(i));
    const addresses = await Promise.all(salts.map((salt) => several.contractAddress({ ...deployment, salt })));
    expect(addresses).toEqual(salts.map((salt) => contractAddress({ ...deployment, salt })));
    await several.stop();
  });

  it('sign before all that waits, but after what is in hand', async () => {
    await crypto.contractAddress(deployment);
    const order: string[] = [];
    const noted = (name: string, job: Promise<unknown>) => job.then(() => order.push(name));
    await Promise.all([
      noted('in hand', crypto.executionHash(longExecution, account, chainId)),
      noted('check', crypto.checkExecution({ ...check, keys: [starkKey(key)] })),
      noted('address', crypto.contractAddress(deployment)),
      noted('sign', crypto.signInvoke(fields, key)),
      noted('sign again', crypto.signInvoke(fields, key)),
    ]);
    expect(order).toEqual(['in hand', 'sign', 'sign again', 'check', 'address']);
  });

  it('leave the event loop to others meanwhile', async () => {
    await crypto.contractAddress(deployment);
    const order: string[] = [];
    // A nonce that no other test has: what was hashed before is remembered.
    const job = crypto
      .executionHash({ ...longExecution, nonce: 0x7777n }, account, chainId)
      .then(() => order.push('job'));
    for (let turn = 1; turn <= 3; turn++) {
      await immediate();
      order.push(`turn ${turn}`);
    }
    await job;
    expect(order).toEqual(['turn 1', 'turn 2', 'turn 3', 'job']);
  });

  it('count the time that they work', async () => {
    const own = startCrypto({ threads: 1 });
    expect(own.busyMs()).toBe(0);
    await own.executionHash(longExecution, account, chainId);
    const once = own.busyMs();
    expect(once).toBeGreaterThan(0);
    await own.executionHash(longExecution, account, chainId);
    expect(own.busyMs()).toBeGreaterThan(once);
    await own.stop();
  });
});

describe('what no thread can do', () => {
  it('fails alone', async () => {
    const bad = crypto.contractAddress({ ...deployment, salt: -1n });
    const uncopied = crypto.contractAddress({ ...deployment, salt: (() => 1n) as unknown as bigint });
    const good = crypto.contractAddress(deployment);
    await expect(bad).rejects.toThrow('contractAddress: Only felts can be hashed');
    await expect(uncopied).rejects.toThrow('contractAddress: the arguments cannot be copied to a thread');
    expect(await good).toBe(contractAddress(deployment));
  });

  it('never shows a private key', async () => {
    const secret = 2n ** 252n + 0xdecafn;
    for (const refused of [secret, -secret, Symbol(toHex(secret)) as unknown as bigint]) {
      const error = await crypto.signInvoke(fields, refused).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      const shown = inspect(error, { depth: null, showHidden: true });
      for (const text of [secret.toString(), secret.toString(16)]) expect(shown).not.toContain(text);
    }
  });

  it('is a pool without threads', () => {
    for (const threads of [0, -1, 1.5]) expect(() => startCrypto({ threads })).toThrow(RangeError);
  });
});
