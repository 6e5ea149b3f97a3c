import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inspect, promisify } from 'node:util';
import { contractAddress, sign, toHex } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { deployment, fields } from '../../testing/crypto/values.ts';
import { CryptoUnavailableError, MAX_WAITING, startCrypto } from './pool.ts';

const file = (name: string) => new URL(`../../testing/crypto/${name}`, import.meta.url);
const deadly = { ...deployment, salt: 0n };
const outcomeOf = (job: Promise<unknown>) => job.catch((error: unknown) => error);

describe('a thread that dies', () => {
  it('takes only the job in its hand with it; those that wait and those that come go on', async () => {
    const crypto = startCrypto({ threads: 1 }, file('crashing-entry.ts'));
    await crypto.contractAddress(deployment);
    const dying = outcomeOf(crypto.contractAddress(deadly));
    const waiting = crypto.contractAddress(deployment);
    const alsoDying = outcomeOf(crypto.contractAddress(deadly));
    const signing = crypto.signInvoke(fields, 3n);
    expect(await dying).toBeInstanceOf(CryptoUnavailableError);
    expect(await waiting).toBe(contractAddress(deployment));
    expect(await alsoDying).toBeInstanceOf(CryptoUnavailableError);
    const { hash, signature } = await signing;
    expect(signature).toEqual(Object.values(sign(hash, 3n)));
    expect(await crypto.contractAddress(deployment)).toBe(contractAddress(deployment));
    await crypto.stop();
  });

  it('does not tell the key that it was about to use', async () => {
    const crypto = startCrypto({ threads: 1 }, file('crashing-entry.ts'));
    const key = 2n ** 200n + 0xdecafn;
    const error = await outcomeOf(crypto.signInvoke({ ...fields, chainId: 0n }, key));
    expect(error).toBeInstanceOf(CryptoUnavailableError);
    const shown = inspect(error, { depth: null, showHidden: true });
    for (const text of [key.toString(), toHex(key), 'Killed by the test']) expect(shown).not.toContain(text);
    await crypto.stop();
  });

  it('before it ever started is not waited for, and the reason is told', async () => {
    const crypto = startCrypto({ threads: 2 }, file('failing-entry.ts'));
    for (let round = 0; round < 2; round++) {
      const jobs = [1, 2, 3].map(() => outcomeOf(crypto.contractAddress(deployment)));
      for (const error of await Promise.all(jobs)) {
        expect(error).toBeInstanceOf(CryptoUnavailableError);
        expect(error).toMatchObject({ cause: { message: 'Fails to start' } });
      }
    }
    await crypto.stop();
  });
});

describe('stopping', () => {
  it('rejects what is in hand, what waits and what comes', async () => {
    const crypto = startCrypto({ threads: 1 });
    await crypto.contractAddress(deployment);
    // Long, and none asked for before, so that the first is still in hand when the end comes.
    const long = (felt: bigint) => ({ ...deployment, constructorCalldata: new Array<bigint>(5_000).fill(felt) });
    const jobs = [1n, 2n, 3n].map((felt) => outcomeOf(crypto.contractAddress(long(felt))));
    await Promise.all([crypto.stop(), crypto.stop()]);
    for (const error of await Promise.all(jobs)) expect(error).toBeInstanceOf(CryptoUnavailableError);
    await expect(crypto.contractAddress(deployment)).rejects.toThrow('Cryptography was stopped');
  });

  it('is possible before the first thread, and while one starts', async () => {
    await startCrypto({ threads: 1 }).stop();
    const crypto = startCrypto({ threads: 1 });
    const job = outcomeOf(crypto.contractAddress(deployment));
    await crypto.stop();
    expect(await job).toBeInstanceOf(CryptoUnavailableError);
  });

  it('is not needed for the process to end', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(file('unstopped-pool.ts'))], {
      timeout: 60_000,
    });
    expect(stdout).toBe('1\n');
  });
});

describe('too many jobs', () => {
  it('are refused at once, and signing is not refused for their sake', async () => {
    const crypto = startCrypto({ threads: 1 });
    const accepted = Array.from({ length: MAX_WAITING }, () => outcomeOf(crypto.contractAddress(deployment)));
    await expect(crypto.contractAddress(deployment)).rejects.toThrow('Cryptography has too much to do');
    const { hash } = await crypto.signInvoke(fields, 3n);
    expect(hash).toBeGreaterThan(0n);
    await crypto.stop();
    await Promise.all(accepted);
  });
});
