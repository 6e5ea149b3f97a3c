import type { Reads } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { deployedCheck, relayerChecks, relayerGauges } from './module.ts';

const row = { chain_id: '0x1', address: '0xa', balance: '0', usdc: null, open: 3n, oldest: 7.5 };

function countingReads(accounts: readonly object[] = [row]): { reads: Reads; queries: () => number } {
  let count = 0;
  const rows = async () => {
    count += 1;
    return accounts;
  };
  return { reads: { rows, one: async () => undefined } as unknown as Reads, queries: () => count };
}

it('reads the accounts once for all gauges of a scrape, and anew for the next scrape', async () => {
  const { reads, queries } = countingReads();
  const gauges = relayerGauges(reads);
  const scrape = () => Promise.all(gauges.map(async ({ name, read }) => [name, await read()] as const));
  const values = new Map(await scrape());
  expect(queries()).toBe(1);
  expect(values.get('svc_relays_open')).toEqual([{ labels: { account: '0xa' }, value: 3 }]);
  expect(values.get('svc_relays_oldest_open_seconds')).toEqual([{ labels: { account: '0xa' }, value: 7.5 }]);
  expect(values.get('svc_manager_balance_usdc')).toEqual([]);
  await scrape();
  expect(queries()).toBe(2);
});

it('reads the accounts once for all checks of a readiness probe', async () => {
  const { reads, queries } = countingReads();
  const { relayers, manager } = relayerChecks(reads);
  expect(await Promise.all([relayers?.(), manager?.()])).toEqual(['empty', 'ok']);
  expect(queries()).toBe(1);
});

it('says that accounts are empty where one of the chains has none that can pay', async () => {
  const strk = String(60n * 10n ** 18n);
  const full = { ...row, balance: strk };
  const words = async (...accounts: object[]) => relayerChecks(countingReads(accounts).reads).relayers?.();
  expect(await words(full, { ...full, chain_id: '0x2' })).toBe('ok');
  expect(await words(full, { ...row, address: '0xb' })).toBe('low');
  expect(await words(full, { ...row, chain_id: '0x2' })).toBe('empty');
});

it('says that a balance is unknown until one was read of each chain, and of the manager', async () => {
  const account = { chainId: 1n, address: '0xa' };
  const strk = String(60n * 10n ** 18n);
  const configured = { relayers: [account], managers: [{ ...account, address: '0xm' }] };
  const words = async (...accounts: object[]) => {
    const { relayers, manager } = relayerChecks(countingReads(accounts).reads, configured);
    return Promise.all([relayers?.(), manager?.()]);
  };
  const manager = { ...row, address: '0xm', balance: strk, usdc: String(10n ** 9n) };
  expect(await words()).toEqual(['unknown', 'unknown']);
  expect(await words({ ...row, balance: null }, { ...manager, usdc: null })).toEqual(['unknown', 'unknown']);
  expect(await words({ ...row, balance: strk }, manager)).toEqual(['ok', 'ok']);
  expect(await words(row, { ...manager, balance: '0' })).toEqual(['empty', 'empty']);
});

describe('the check of deployed accounts', () => {
  const account = (address: string, chainId = 1n) => ({ chainId, address });
  const chainWith = (...deployed: bigint[]) => {
    const asked: bigint[] = [];
    const classHashAt = async (address: bigint) => {
      asked.push(address);
      return deployed.includes(address) ? 0x5e1fn : undefined;
    };
    return { chainId: 1n, classHashAt, asked, deployed };
  };

  it('is about relayers and manager of each chain', async () => {
    const words = async (chain: ReturnType<typeof chainWith>) =>
      deployedCheck([chain], { relayers: [account('0x1'), account('0x2')], managers: [account('0x3')] }).deployed?.();
    expect(await words(chainWith(1n, 2n, 3n))).toBe('ok');
    expect(await words(chainWith(1n, 3n))).toBe('incomplete');
    expect(await words(chainWith(3n))).toBe('undeployed');
    expect(await words(chainWith(1n, 2n))).toBe('undeployed');
    expect(await deployedCheck([], { relayers: [], managers: [] }).deployed?.()).toBe('ok');
  });

  it('asks no node for what it has found once', async () => {
    const chain = chainWith(1n);
    const { deployed } = deployedCheck([chain], { relayers: [account('0x1')], managers: [account('0x3')] });
    expect(await deployed?.()).toBe('undeployed');
    chain.deployed.push(3n);
    expect(await deployed?.()).toBe('ok');
    chain.deployed.length = 0;
    expect(await deployed?.()).toBe('ok');
    expect(chain.asked).toEqual([3n, 1n, 3n]);
  });
});
