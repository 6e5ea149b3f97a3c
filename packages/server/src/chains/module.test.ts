import { levelOfWord } from '@svc/protocol';
import { classes, walletClasses } from '@svc/starknet';
import { describe, expect, it, vi } from 'vitest';
import { chainChecks } from './module.ts';
import type { StarknetNetwork } from './networks.ts';

interface Node {
  readonly blockNumber?: () => Promise<number>;
  readonly declared?: readonly bigint[];
}

function network({ blockNumber = async () => 1, declared = [classes.svc] }: Node = {}): StarknetNetwork {
  const classEntrypoints = async (hash: bigint) => (declared.includes(hash) ? new Set([1n]) : undefined);
  return { chain: { blockNumber, classEntrypoints }, walletClasses } as unknown as StarknetNetwork;
}

const down = network({ blockNumber: () => Promise.reject(new Error('no node')) });

async function words(networks: readonly StarknetNetwork[]) {
  const checks = chainChecks(networks);
  return { node: await checks.node?.(), class: await checks.class?.() };
}

describe('the chain checks of /readyz', () => {
  it('are ok where nodes answer and the class of new wallets is declared', async () => {
    expect(await words([network(), network()])).toEqual({ node: 'ok', class: 'ok' });
    expect(await words([])).toEqual({ node: 'ok', class: 'ok' });
  });

  it('say that a node is unreachable, of whichever network', async () => {
    expect(await words([network(), down])).toMatchObject({ node: 'unreachable' });
  });

  it('say that the class of new wallets is not declared', async () => {
    const earlier = network({ declared: [classes.svcPolicies] });
    expect(await words([network(), earlier])).toEqual({ node: 'ok', class: 'undeclared' });
  });

  it('tell apart a missing class of treasuries, which does not end readiness', async () => {
    const word = (declared: readonly bigint[]) => chainChecks([network(), network({ declared })]).treasuryClass?.();
    expect(await chainChecks([network({ declared: [classes.treasury] })]).treasuryClass?.()).toBe('ok');
    expect(await word([classes.svc])).toBe('missing');
    expect(levelOfWord('missing')).toBe('warning');
  });

  it('take a slow node for reachable for fifteen seconds, and ask it once meanwhile', async () => {
    vi.useFakeTimers();
    let now = 0;
    const blockNumber = vi.fn(() => new Promise<number>(() => {}));
    const { node } = chainChecks([network({ blockNumber })], () => now);
    const ask = async () => {
      const asked = node?.();
      await vi.advanceTimersByTimeAsync(1_500);
      return asked;
    };
    expect(await ask()).toBe('ok');
    now = 15_000;
    expect(await ask()).toBe('unreachable');
    expect(blockNumber).toHaveBeenCalledOnce();
    vi.useRealTimers();
  });
});
