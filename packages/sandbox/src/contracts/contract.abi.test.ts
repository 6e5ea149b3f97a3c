import { type Abi, CallData, createAbiParser, events } from 'starknet';
import { describe, expect, it } from 'vitest';
import { TestChain, transfer, USDC } from '../../testing/test-chain.ts';
import { erc20 } from './erc20.ts';
import { contracts } from './genesis.ts';
import { predeployed } from './predeployed.ts';
import { currentSvcAccount } from './svc-account.ts';

const hex = (felt: bigint) => `0x${felt.toString(16)}`;

describe('the ABI', () => {
  it.each(contracts)('of $name is one that starknet.js can use', ({ abi }) => {
    expect(JSON.parse(JSON.stringify(abi))).toEqual(abi);
    expect(abi.filter((entry) => entry.type === 'interface')).toHaveLength(1);
    expect(() => createAbiParser(abi as Abi)).not.toThrow();
  });

  it('lets starknet.js build calldata, read results and read events of a token', async () => {
    const chain = new TestChain();
    const codec = new CallData(erc20.abi as Abi);
    const calldata = codec.compile('transfer', { recipient: 5n, amount: 2n ** 128n + 3n });
    expect(calldata.map(BigInt)).toEqual([5n, 3n, 1n]);
    const name = (await chain.read(USDC, 'name')).map(hex);
    expect(codec.parse('name', name)).toBe('USD Coin');
    const balance = (await chain.read(USDC, 'balanceOf', [predeployed.manager.address])).map(hex);
    expect(codec.parse('balanceOf', balance)).toBe(await chain.balance(USDC, predeployed.manager.address));

    const { events: emitted } = await chain.must(predeployed.manager, [transfer(USDC, 5n, 7n)]);
    const [first] = emitted;
    if (!first) throw new Error('no event');
    const wire = {
      from_address: hex(first.from),
      keys: first.keys.map(hex),
      data: first.data.map(hex),
      transaction_hash: '0x1',
      block_hash: '0x1',
      block_number: 1,
      transaction_index: 0,
      event_index: 0,
    };
    const structs = CallData.getAbiStruct(erc20.abi as Abi);
    const enums = CallData.getAbiEnum(erc20.abi as Abi);
    const parser = createAbiParser(erc20.abi as Abi);
    const parsed = events.parseEvents([wire], events.getAbiEvents(erc20.abi as Abi), structs, enums, parser);
    expect(parsed[0]?.['svc::ERC20::Transfer']).toEqual({ from: predeployed.manager.address, to: 5n, value: 7n });
  });

  it('lets starknet.js build what an account is asked', () => {
    const codec = new CallData(currentSvcAccount.abi as Abi);
    const session = { session_key: 1n, valid_until: 2n, max_calls: 3n, allowed_entrypoints: [4n, 5n] };
    const built = codec.compile('add_or_update_session_key', session).map(BigInt);
    expect(built).toEqual([1n, 2n, 3n, 2n, 4n, 5n]);
    expect(codec.parse('get_session_data', ['0x9', '0x3', '0x1', '0x2'])).toEqual({ 0: 9n, 1: 3n, 2: 1n, 3: 2n });
  });
});
