import { contractAddress, LEGACY_UDC_ADDRESS, pedersen, selector, UDC_ADDRESS } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { call, TestChain } from '../../testing/test-chain.ts';
import { plainAccount } from './plain-account.ts';
import { predeployed } from './predeployed.ts';

const [relayer] = predeployed.relayers;
const { classHash } = plainAccount;
const SALT = 0x5a17n;
const KEY = 0x777n;

const deploying = (udc: bigint, name: string, unique: bigint) => call(udc, name, [classHash, SALT, unique, 1n, KEY]);

describe('the universal deployer', () => {
  it.each([
    [UDC_ADDRESS, 'deploy_contract'],
    [UDC_ADDRESS, 'deployContract'],
    [LEGACY_UDC_ADDRESS, 'deployContract'],
  ])('at %s deploys with %s to an address that does not depend on the deployer', async (udc, name) => {
    const chain = new TestChain();
    const address = contractAddress({ salt: SALT, classHash, constructorCalldata: [KEY], deployer: 0n });
    const { events, trace } = await chain.simulate(relayer.address, [deploying(udc, name, 0n)]);
    expect(await chain.classHashAt(address)).toBe(classHash);
    expect(await chain.read(address, 'get_public_key')).toEqual([KEY]);
    expect(events).toEqual([
      { from: address, keys: [selector('OwnerAdded'), KEY], data: [] },
      {
        from: udc,
        keys: [selector('ContractDeployed')],
        data: [address, relayer.address, 0n, classHash, 1n, KEY, SALT],
      },
    ]);
    expect(trace.execute?.calls[0]?.result).toEqual([address]);
    expect(trace.execute?.calls[0]?.calls[0]).toMatchObject({ callType: 'DEPLOY', entryPointType: 'CONSTRUCTOR' });
  });

  it('binds a unique deployment to who asked for it', async () => {
    const chain = new TestChain();
    const salt = pedersen(relayer.address, SALT);
    const address = contractAddress({ salt, classHash, constructorCalldata: [KEY], deployer: UDC_ADDRESS });
    await chain.simulate(relayer.address, [deploying(UDC_ADDRESS, 'deploy_contract', 1n)]);
    expect(await chain.classHashAt(address)).toBe(classHash);
  });

  it('deploys nothing twice, nothing undeclared, and nothing whose constructor fails', async () => {
    const chain = new TestChain();
    const again = [deploying(UDC_ADDRESS, 'deploy_contract', 0n), deploying(UDC_ADDRESS, 'deploy_contract', 0n)];
    expect((await chain.simulate(relayer.address, again)).revertReason).toContain('is unavailable for deployment.');
    const undeclared = call(UDC_ADDRESS, 'deploy_contract', [0x99n, SALT, 0n, 0n]);
    expect((await chain.simulate(relayer.address, [undeclared])).revertReason).toContain('is not declared.');
    const broken = call(UDC_ADDRESS, 'deploy_contract', [classHash, SALT, 0n, 0n]);
    const { revertReason, diff } = await chain.simulate(relayer.address, [broken]);
    expect(revertReason).toContain("('Failed to deserialize param #1')");
    expect(diff.classHashes.size).toBe(0);
  });
});
