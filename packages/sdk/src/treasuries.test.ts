import { ANY_CALLER, chainIds, outsideExecutionTypedData, selector, starkKey, toHex, verify } from '@svc/starknet';
import { typedData as starknetJs, type TypedData } from 'starknet';
import { describe, expect, it } from 'vitest';
import { configClient } from '../testing/fake-client.ts';
import { SvcTypedDataError } from './client/errors.ts';
import { signProposalOffline } from './treasuries.ts';
import { describeTreasuryCalls } from './treasury-calls.ts';

const NOW_SECONDS = 1_800_000_000n;
const DAY = 86_400n;
const PRIVATE_KEY = '0x1234';
const treasuryAddress = '0x7ea5';
const USDC = 0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fbn;

const chainId = chainIds.SN_SEPOLIA;
const client = configClient({ chainId: toHex(chainId) }, 'pk_dev_key', Number(NOW_SECONDS) * 1_000);
const callOf = (amount: bigint, to = USDC) => ({
  contractAddress: toHex(to),
  entrypoint: toHex(selector('transfer')),
  calldata: ['0xb0b', toHex(amount), '0x0'],
});
const shown = [callOf(5n)];

function proposalOf(calls = shown, changes: { before?: bigint; chainId?: bigint } = {}) {
  const execution = {
    caller: ANY_CALLER,
    nonce: 7n,
    executeAfter: NOW_SECONDS - 60n,
    executeBefore: changes.before ?? NOW_SECONDS + 7n * DAY,
    calls: calls.map(({ contractAddress, entrypoint, calldata }) => ({
      to: BigInt(contractAddress),
      selector: BigInt(entrypoint),
      calldata: calldata.map(BigInt),
    })),
  };
  const typedData = { ...outsideExecutionTypedData(execution, changes.chainId ?? chainId) };
  return { id: 'tpr_1', treasuryId: 'trs_1', typedData };
}

const sign = (proposal: ReturnType<typeof proposalOf>, calls = shown) =>
  signProposalOffline(client, { treasuryAddress, proposal, calls, privateKey: PRIVATE_KEY });

describe('a proposal', () => {
  it('is signed for the treasury that the signer named', async () => {
    const proposal = proposalOf();
    const { publicKey, signature } = await sign(proposal);
    expect(publicKey).toBe(toHex(starkKey(BigInt(PRIVATE_KEY))));
    const hashFor = (account: string) => BigInt(starknetJs.getMessageHash(proposal.typedData as TypedData, account));
    const [r, s] = signature.map(BigInt) as [bigint, bigint];
    expect(verify(hashFor(treasuryAddress), BigInt(publicKey), r, s)).toBe(true);
    expect(verify(hashFor('0x7ea6'), BigInt(publicKey), r, s)).toBe(false);
  });

  it.each([
    ['another amount', proposalOf([callOf(6n)])],
    ['another contract', proposalOf([callOf(5n, 0xbadn)])],
    ['one more call', proposalOf([...shown, callOf(1n)])],
    ['another chain', proposalOf(shown, { chainId: chainIds.SVC_SANDBOX })],
    ['a window of more than a month', proposalOf(shown, { before: NOW_SECONDS + 40n * DAY })],
    ['a window that is over', proposalOf(shown, { before: NOW_SECONDS - 1n })],
  ])('is not signed with %s than was shown', async (_, proposal) => {
    await expect(sign(proposal)).rejects.toThrow(SvcTypedDataError);
  });
});

describe('the calls of a proposal', () => {
  const describeOne = async (call: ReturnType<typeof callOf>) =>
    (await describeTreasuryCalls(client, { treasuryAddress, calls: [call] }))[0];

  it('are described from their felts', async () => {
    const own = (entrypoint: string, calldata: string[]) => ({
      contractAddress: treasuryAddress,
      entrypoint: toHex(selector(entrypoint)),
      calldata,
    });
    expect(await describeOne(own('set_signers', ['0x1', '0xa', '0x1']))).toMatchObject({
      kind: 'SET_SIGNERS',
      signers: ['0xa'],
      threshold: 1,
    });
    expect(await describeOne(own('upgrade', ['0xc1a55']))).toMatchObject({ kind: 'UPGRADE', classHash: '0xc1a55' });
    expect(await describeOne({ ...callOf(5n), calldata: ['0xb0b'] })).toMatchObject({ kind: 'UNKNOWN' });
    expect(await describeOne(callOf(5n, 0xbadn))).toMatchObject({ kind: 'TRANSFER', token: undefined, amount: '5' });
  });
});
