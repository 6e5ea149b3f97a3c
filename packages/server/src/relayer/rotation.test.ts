import { starkKey } from '@svc/starknet';
import { describe, expect, it, vi } from 'vitest';
import { allKeys, type RelayerDeps } from './accounts.ts';
import { createPayer } from './payer.ts';

const old = { address: 1n, privateKey: 11n };
const relayer = { address: 2n, privateKey: 12n };
const manager = { address: 3n, privateKey: 13n };

describe('keys that change', () => {
  it('leave a drained account its key for what it has begun, and no part in what is new', () => {
    const keys = () => [relayer];
    const deps = { keys, managerKey: () => manager, drainingKeys: () => [old] } as unknown as RelayerDeps;
    expect(allKeys(deps, 'production')).toEqual([relayer, manager, old]);
    expect(deps.keys('production')).not.toContain(old);
  });

  it('leave deposit addresses their owner where DEPOSIT_KEY names it', async () => {
    const signExecution = vi.fn(async () => ({ hash: 1n, signature: [2n, 3n] }));
    const payerOf = (depositKey?: bigint) =>
      createPayer({
        networks: { starknet: () => ({ chain: { chainId: 9n } }) },
        crypto: { signExecution },
        managerKey: () => manager,
        depositKey: () => depositKey,
      } as unknown as Parameters<typeof createPayer>[0]);
    expect(payerOf().publicKey('production')).toBe(starkKey(13n));
    expect(payerOf(11n).publicKey('production')).toBe(starkKey(11n));
    expect(payerOf(11n).manager('production')).toBe(3n);
    const execution = {} as Parameters<ReturnType<typeof createPayer>['signExecution']>[2];
    await payerOf().signExecution('production', 7n, execution);
    await payerOf(11n).signExecution('production', 7n, execution);
    expect(signExecution.mock.calls.map((args: readonly unknown[]) => args[3])).toEqual([13n, 11n]);
  });
});
