import { accountAddress, accountDeployment, classes, contractAddress, type Deployment } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { cacheAddresses } from './pool.ts';

const OWNER = 0x1234n;

/** Counts what reaches the threads. */
function counted(limit?: number) {
  const asked: string[] = [];
  const threads = {
    contractAddress: async (deployment: Deployment) => {
      asked.push('contractAddress');
      return contractAddress(deployment);
    },
    accountAddresses: async (classHashes: readonly bigint[], publicKey: bigint) => {
      asked.push('accountAddresses');
      return classHashes.map((classHash) => accountAddress(classHash, publicKey));
    },
  };
  return { asked, crypto: cacheAddresses(threads, limit) };
}

describe('remembered addresses', () => {
  it.each(['svc', 'ready'] as const)('spare the creation of a %s wallet the way to a thread', async (name) => {
    const { asked, crypto } = counted();
    const [address] = await crypto.accountAddresses([classes[name]], OWNER);
    expect(await crypto.contractAddress(accountDeployment(classes[name], OWNER))).toBe(address);
    expect(asked).toEqual(['accountAddresses']);
  });

  it('are told apart by everything that an address is made of', async () => {
    const { crypto } = counted();
    const deployment = accountDeployment(classes.svc, OWNER);
    const others: Deployment[] = [
      deployment,
      { ...deployment, salt: 1n },
      { ...deployment, deployer: 1n },
      { ...deployment, classHash: classes.ready },
      { ...deployment, constructorCalldata: [OWNER, 1n] },
    ];
    for (const other of [...others, ...others]) {
      expect(await crypto.contractAddress(other)).toBe(contractAddress(other));
    }
  });

  it('are forgotten when there are too many, the oldest first', async () => {
    const { asked, crypto } = counted(2);
    for (const owner of [1n, 2n, 3n]) await crypto.accountAddresses([classes.svc], owner);
    await crypto.contractAddress(accountDeployment(classes.svc, 3n));
    expect(asked).toHaveLength(3);
    await crypto.contractAddress(accountDeployment(classes.svc, 1n));
    expect(asked).toEqual([...Array(3).fill('accountAddresses'), 'contractAddress']);
  });
});
