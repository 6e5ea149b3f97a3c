import { describe, expect, it } from 'vitest';
import { type ClassDescription, decodeCalls, decodeMembers, shortStringOf } from './abi.ts';
import {
  Book,
  callsOf,
  decodeCall,
  decodeEvent,
  innerCalls,
  inUnits,
  readMarker,
  readRevert,
  transfersOf,
  usersOf,
} from './decode.ts';

const felt = 'core::felt252';
const address = 'core::starknet::contract_address::ContractAddress';
const u256 = 'core::integer::u256';
const u64 = 'core::integer::u64';
const none = { isView: false, outputs: [] };

const erc20: ClassDescription = {
  classHash: '0xe20',
  name: 'ERC20',
  functions: [
    {
      ...none,
      name: 'transfer',
      selector: '0x7',
      inputs: [
        { name: 'recipient', type: address },
        { name: 'amount', type: u256 },
      ],
    },
    { ...none, name: 'balanceOf', selector: '0x8', inputs: [{ name: 'account', type: address }] },
  ],
  events: [
    {
      name: 'Transfer',
      selector: '0x99',
      members: [
        { name: 'from', type: address, kind: 'key' },
        { name: 'to', type: address, kind: 'key' },
        { name: 'value', type: u256, kind: 'data' },
      ],
    },
  ],
  structs: {},
  enums: {},
};

const account: ClassDescription = {
  classHash: '0xacc',
  name: 'SvcAccount',
  functions: [
    {
      ...none,
      name: 'execute_from_outside_v2',
      selector: '0x0f',
      inputs: [
        { name: 'outside_execution', type: 'svc::OutsideExecution' },
        { name: 'signature', type: `core::array::Span::<${felt}>` },
      ],
    },
  ],
  events: [],
  structs: {
    'svc::OutsideExecution': [
      { name: 'caller', type: address },
      { name: 'nonce', type: felt },
      { name: 'execute_after', type: u64 },
      { name: 'execute_before', type: u64 },
      { name: 'calls', type: 'core::array::Span::<core::starknet::account::Call>' },
    ],
  },
  enums: {},
};

const USDC = { token: 'USDC', name: 'USD Coin', symbol: 'USDC', address: '0x1dc', decimals: 6 };
const book = new Book({
  tokens: [USDC],
  contracts: [{ name: 'relayer 1', address: '0x4e1' }],
  classes: [erc20, account],
});

const transferCall = [0x1dcn, 7n, 3n, 0xb0bn, 5_000_000n, 0n];
/** Caller, nonce, window, one call. */
const execution = [0n, 77n, 1n, 100n, 1n, ...transferCall];

describe('calldata', () => {
  it('is shown by the names of the ABI', () => {
    const call = decodeCall(book, { to: 0x1dcn, selector: 7n, calldata: [0xb0bn, 1n, 2n] });
    expect(call).toMatchObject({
      name: 'transfer',
      inputs: [
        { name: 'recipient', value: { kind: 'address', value: 0xb0bn } },
        { name: 'amount', value: { kind: 'number', value: 1n + (2n << 128n) } },
      ],
    });
  });

  it('keeps its name and no fields where it does not fit, and neither where it is unknown', () => {
    expect(decodeCall(book, { to: 1n, selector: 7n, calldata: [1n] })).toMatchObject({
      name: 'transfer',
      inputs: undefined,
    });
    expect(decodeCall(book, { to: 1n, selector: 1234n, calldata: [] })).toMatchObject({
      name: undefined,
      inputs: undefined,
    });
  });

  it('does not loop for a length that it announces', () => {
    expect(decodeCalls([2n ** 60n])).toBeUndefined();
    expect(
      decodeMembers([{ name: 'a', type: `core::array::Array::<${felt}>` }], [10n ** 9n, 1n], erc20),
    ).toBeUndefined();
  });

  it('does not loop for types that contain themselves', () => {
    const circle = { structs: { 'a::Circle': [{ name: 'again', type: 'a::Circle' }] }, enums: {} };
    expect(decodeMembers([{ name: 'a', type: 'a::Circle' }], [1n], circle)).toBeUndefined();
  });

  it('reads tuples, options, texts and booleans', () => {
    const option = 'core::option::Option::<core::felt252>';
    const enums = {
      [option]: [
        { name: 'Some', type: felt },
        { name: 'None', type: '()' },
      ],
    };
    const members = [
      { name: 'pair', type: `(${u64}, (core::bool, ${felt}))` },
      { name: 'some', type: option },
      { name: 'none', type: option },
      { name: 'text', type: 'core::byte_array::ByteArray' },
    ];
    expect(decodeMembers(members, [5n, 1n, 9n, 0n, 3n, 1n, 0n, 0x686fn, 2n], { structs: {}, enums })).toEqual([
      {
        name: 'pair',
        value: {
          kind: 'fields',
          fields: [
            { name: '0', value: { kind: 'number', value: 5n } },
            {
              name: '1',
              value: {
                kind: 'fields',
                fields: [
                  { name: '0', value: { kind: 'bool', value: true } },
                  { name: '1', value: { kind: 'felt', value: 9n } },
                ],
              },
            },
          ],
        },
      },
      { name: 'some', value: { kind: 'variant', name: 'Some', value: { kind: 'felt', value: 3n } } },
      { name: 'none', value: { kind: 'variant', name: 'None', value: undefined } },
      { name: 'text', value: { kind: 'text', value: 'ho' } },
    ]);
  });
});

describe('an outside execution', () => {
  const sent = (signature: bigint[]) => ({
    type: 'INVOKE',
    version: '0x3',
    nonce: '0x0',
    signature: [],
    sender_address: '0x4e1',
    calldata: [
      1n,
      0xacc1n,
      0xfn,
      BigInt(execution.length + signature.length + 1),
      ...execution,
      BigInt(signature.length),
      ...signature,
    ].map((one) => `0x${one.toString(16)}`),
  });

  it('shows whose account acts and the calls inside', () => {
    const calls = callsOf(book, sent([1n, 2n])) ?? [];
    expect(usersOf(calls)).toEqual([0xacc1n]);
    expect(calls[0]?.outside).toMatchObject({
      nonce: 77n,
      executeAfter: 1n,
      executeBefore: 100n,
      sessionKey: undefined,
    });
    expect(innerCalls(calls)).toMatchObject([{ name: 'transfer', to: 0x1dcn }]);
  });

  it('names the session that signed it', () => {
    expect(callsOf(book, sent([0x5e55n, 1n, 2n, 99n]))?.[0]?.outside?.sessionKey).toBe(0x5e55n);
  });
});

describe('events', () => {
  const raw = { from_address: '0x1dc', keys: ['0x99', '0x1', '0x2'], data: ['0x4c4b40', '0x0'] };

  it('are shown by name, and transfers of known tokens with their amount', () => {
    const event = decodeEvent(book, raw);
    expect(event).toMatchObject({ name: 'Transfer', from: 0x1dcn });
    expect(transfersOf(book, [event])).toEqual([{ token: USDC, from: 1n, to: 2n, amount: 5_000_000n }]);
  });

  it('of unknown contracts stay raw', () => {
    expect(decodeEvent(book, { ...raw, keys: ['0x1'] })).toMatchObject({ name: undefined, fields: undefined });
    expect(transfersOf(book, [decodeEvent(book, { ...raw, from_address: '0x2' })])).toEqual([]);
  });
});

describe('values', () => {
  it('of money are exact', () => {
    expect([inUnits(25_500_000n, 6), inUnits(1n, 18), inUnits(0n, 6), inUnits(7n, 0)]).toEqual([
      '25.5',
      '0.000000000000000001',
      '0',
      '7',
    ]);
  });

  it('that spell a word are read as one', () => {
    expect(shortStringOf(0x414e595f43414c4c4552n)).toBe('ANY_CALLER');
    expect([shortStringOf(0n), shortStringOf(65n), shortStringOf(2n ** 250n)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('that mark a payment name its gift and redeem', () => {
    const bits = (text: string) =>
      [...text].reduce((all, one) => (all << 5n) | BigInt('0123456789abcdefghjkmnpqrstvwxyz'.indexOf(one)), 0n);
    const [redeem, gift] = ['01kxw9a0b1c2d3e4f5g6h7j8k9', '01kxw9a0b1c2d3e4f5g6h7j8ka'];
    const felt = (((1n << 124n) | bits(gift)) << 124n) | bits(redeem);
    expect(readMarker([felt])).toEqual({ kind: 'payout', id: `rdm_${redeem}`, giftId: `gift_${gift}` });
    expect([readMarker([0xb0bn]), readMarker([felt, 1n]), readMarker([])]).toEqual([undefined, undefined, undefined]);
  });
});

describe('a revert reason', () => {
  const frame = (contract: string, selector: string) =>
    `(contract address: ${contract}, class hash: 0x0c1a, selector: ${selector})`;

  it('is told in its innermost words, with the way there', () => {
    const reason = `Transaction execution has failed:\n0: Error in the called contract ${frame('0x04e1', '0x01')}:\nExecution failed. Failure reason:\nError in contract ${frame('0x04e1', '0x01')}:\nError in contract ${frame('0x01dc', '0x07')}:\n(0x45524332303a20696e73756666696369656e742062616c616e6365 ('ERC20: insufficient balance'), 0x454e545259504f494e545f4641494c4544 ('ENTRYPOINT_FAILED')).\n`;
    expect(readRevert(reason)).toEqual({
      words: 'ERC20: insufficient balance',
      frames: [
        { address: 0x4e1n, selector: 1n },
        { address: 0x1dcn, selector: 7n },
      ],
    });
  });

  it('without words is told by its last line', () => {
    expect(readRevert('Something:\nout of luck\n')).toEqual({ words: 'out of luck', frames: [] });
  });
});
