import type { StarknetAddress } from '@svc/protocol';
import { type Call, selector, toHex } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { STRK, stranger, USDC } from '../../testing/transactions.ts';
import { tokensOf } from '../chains/tokens.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import { type ExecutedCalls, recipientsOf, recordsOfCalls } from './execute.ts';

const ana = { id: 'wal_ana', organizationId: 'org_1', environment: 'development', address: stranger() } as WalletRecord;
const luis = { ...ana, id: 'wal_luis', address: stranger() };
const createdAt = new Date('2026-05-01T10:00:00Z');
const relay = { id: 'rel_1', hash: 0xabcn };

const transfer = (to: string, amount: bigint, token = USDC): Call => ({
  to: BigInt(token),
  selector: selector('transfer'),
  calldata: [BigInt(to), amount & (2n ** 128n - 1n), amount >> 128n],
});
const execution = (calls: Call[], changes: Partial<ExecutedCalls> = {}): ExecutedCalls => ({
  wallet: ana,
  apiPublicKey: 'pk_dev_1',
  calls,
  isSession: false,
  createdAt,
  tokens: tokensOf('sandbox', 'STARKNET'),
  names: new Map([[selector('transfer'), 'transfer']]),
  recipients: new Map<StarknetAddress, WalletRecord>([[luis.address, luis]]),
  ...changes,
});
const record = (call: Call, changes: Partial<ExecutedCalls> = {}) =>
  recordsOfCalls(execution([call], changes), relay)[0];

describe('the records of an execution', () => {
  it('tell of a single transfer everything that the history shows', () => {
    expect(recordsOfCalls(execution([transfer(luis.address, 2_500_000n)]), relay)).toEqual([
      {
        organizationId: 'org_1',
        environment: 'development',
        apiPublicKey: 'pk_dev_1',
        type: 'SEND',
        subType: 'TRANSFER',
        chain: 'STARKNET',
        transactionHash: '0xabc',
        eventIndex: undefined,
        relayId: 'rel_1',
        callIndex: 0,
        senderAddress: ana.address,
        destinationAddress: luis.address,
        contractAddress: USDC,
        contractName: 'USDC',
        functionName: 'transfer',
        functionSelector: toHex(selector('transfer')),
        token: 'USDC',
        tokenAddress: USDC,
        amount: 2_500_000n,
        status: 'PENDING',
        blockNumber: undefined,
        senderWalletId: 'wal_ana',
        destinationWalletId: 'wal_luis',
        createdAt,
        confirmedAt: undefined,
      },
    ]);
  });

  it('know amounts above 128 bits, tokens that are not in the table, and recipients that are no wallets', () => {
    const [token, to] = [stranger(), stranger()];
    expect(record(transfer(to, 2n ** 200n, token))).toMatchObject({
      token: 'OTHER',
      tokenAddress: token,
      contractName: undefined,
      amount: 2n ** 200n,
      destinationWalletId: undefined,
    });
  });

  it('tell of any other call which function of which contract it was', () => {
    const call = { to: BigInt(STRK), selector: selector('approve'), calldata: [1n, 2n, 0n] };
    expect(record(call, { names: new Map([[selector('approve'), 'approve']]) })).toMatchObject({
      type: 'CONTRACT_CALL',
      subType: undefined,
      destinationAddress: STRK,
      contractAddress: STRK,
      functionName: 'approve',
      functionSelector: toHex(selector('approve')),
      token: undefined,
      amount: undefined,
    });
    expect(record(call)).toMatchObject({ functionName: undefined, functionSelector: toHex(selector('approve')) });
  });

  it.each([
    ['too few arguments', [1n, 2n]],
    ['too many arguments', [1n, 2n, 0n, 0n]],
    ['no recipient', [0n, 2n, 0n]],
    ['an amount that is none', [1n, 2n ** 128n, 0n]],
  ])('take a call of transfer with %s for a contract call', (_, calldata) => {
    const call = { to: BigInt(USDC), selector: selector('transfer'), calldata };
    expect(record(call)).toMatchObject({ type: 'CONTRACT_CALL', functionName: 'transfer' });
  });

  it('keep calls of what is no contract address', () => {
    const call = { to: 0n, selector: 1n, calldata: [] };
    expect(record(call)).toMatchObject({ destinationAddress: `0x${'0'.repeat(64)}`, functionSelector: '0x1' });
  });

  it('are in the order of the calls, and MULTICALL when there are several', () => {
    const calls = [transfer(luis.address, 1n), { to: 5n, selector: 6n, calldata: [] }, transfer(stranger(), 2n)];
    const records = recordsOfCalls(execution(calls), relay);
    expect(records.map(({ type, callIndex, subType }) => [type, callIndex, subType])).toEqual([
      ['SEND', 0, 'MULTICALL'],
      ['CONTRACT_CALL', 1, 'MULTICALL'],
      ['SEND', 2, 'MULTICALL'],
    ]);
  });

  it('are SESSION when a session signed, be it one call or several', () => {
    const calls = [transfer(luis.address, 1n), transfer(luis.address, 2n)];
    const records = recordsOfCalls(execution(calls, { isSession: true }), relay);
    expect(records.map(({ subType }) => subType)).toEqual(['SESSION', 'SESSION']);
    expect(record(transfer(luis.address, 1n), { isSession: true })).toMatchObject({ subType: 'SESSION' });
  });

  it('have no hash while a paymaster has not told it', () => {
    const [first] = recordsOfCalls(execution([transfer(luis.address, 1n)]), { id: 'rel_1', hash: undefined });
    expect(first?.transactionHash).toBeUndefined();
  });
});

describe('the recipients of calls', () => {
  it('are those of the transfers, each once', () => {
    const other = stranger();
    const approve = { to: BigInt(USDC), selector: selector('approve'), calldata: [7n, 1n, 0n] };
    const calls = [transfer(luis.address, 1n), approve, transfer(other, 1n), transfer(luis.address, 2n)];
    expect(recipientsOf(calls)).toEqual([luis.address, other]);
  });
});
