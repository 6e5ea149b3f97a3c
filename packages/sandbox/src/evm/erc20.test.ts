import fc from 'fast-check';
import {
  type Address,
  concatHex,
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionResult,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  keccak256,
  pad,
  parseAbi,
  toEventSelector,
  toFunctionSelector,
  toHex,
} from 'viem';
import { describe, expect, it } from 'vitest';
import { startEngine } from './engine.ts';
import { selectors, topics } from './erc20.ts';
import { evmChains, FAUCET } from './tokens.ts';

const abi = [
  ...erc20Abi,
  ...parseAbi(['function mint(address to, uint256 amount) returns (bool)', 'error Error(string)']),
];
const [USDC, , , DAI] = evmChains.BASE.tokens.map(({ address }) => address) as [Address, Address, Address, Address];
const people = ['11', '22', '33'].map((digits) => `0x${digits.repeat(20)}` as Address);
const [ann, bob, eve] = people as [Address, Address, Address];
const LARGEST = 2n ** 256n - 1n;

type Name = 'mint' | 'transfer' | 'approve' | 'transferFrom' | 'balanceOf' | 'allowance' | 'totalSupply';
interface Receipt {
  status: Hex;
  logs: { address: Address; topics: [Hex, ...Hex[]]; data: Hex }[];
}

/** A new chain on which these accounts send without signing. */
async function freshChain() {
  const engine = await startEngine('BASE');
  const ask = async (method: string, params: unknown[]) => {
    const answer = await engine.request(method, params);
    if ('error' in answer) throw new Error(answer.error.message);
    return answer.result;
  };
  for (const person of people) {
    await ask('hardhat_impersonateAccount', [person]);
    await ask('hardhat_setBalance', [person, toHex(10n ** 18n)]);
  }
  const encode = (name: Name, args: unknown[]) => encodeFunctionData({ abi, functionName: name, args } as never) as Hex;
  const sendData = async (from: string, data: Hex, extra: object = {}) => {
    const hash = await ask('eth_sendTransaction', [{ from, to: USDC, data, gas: toHex(200_000), ...extra }]);
    return (await ask('eth_getTransactionReceipt', [hash])) as Receipt;
  };
  return {
    ask,
    sendData,
    send: (from: string, name: Name, ...args: unknown[]) => sendData(from, encode(name, args)),
    read: async (name: Name, ...args: unknown[]) =>
      BigInt((await ask('eth_call', [{ to: USDC, data: encode(name, args) }, 'latest'])) as Hex),
    reasonFor: async (from: string, name: Name, ...args: unknown[]) => {
      const answer = await engine.request('eth_call', [{ from, to: USDC, data: encode(name, args) }, 'latest']);
      if (!('error' in answer)) return undefined;
      const data = answer.error.data as Hex;
      return data === '0x' ? '' : decodeErrorResult({ abi, data }).args?.[0];
    },
  };
}

const events = ({ logs }: Receipt) =>
  logs.map(({ topics, data }) => {
    const { eventName, args } = decodeEventLog({ abi: erc20Abi, topics, data });
    return [eventName, ...Object.values(args)];
  });

describe('the token contract', () => {
  it('knows the selectors and topics of the standard', () => {
    const signatures = {
      name: 'name()',
      symbol: 'symbol()',
      decimals: 'decimals()',
      totalSupply: 'totalSupply()',
      balanceOf: 'balanceOf(address)',
      allowance: 'allowance(address,address)',
      transfer: 'transfer(address,uint256)',
      approve: 'approve(address,uint256)',
      transferFrom: 'transferFrom(address,address,uint256)',
      mint: 'mint(address,uint256)',
    };
    for (const [name, signature] of Object.entries(signatures)) {
      expect(selectors[name as keyof typeof selectors]).toBe(toFunctionSelector(signature));
    }
    expect(topics.Transfer).toBe(toEventSelector('Transfer(address,address,uint256)'));
    expect(topics.Approval).toBe(toEventSelector('Approval(address,address,uint256)'));
  });

  it.each(evmChains.ARBITRUM.tokens)('says that $token is called $symbol and has $decimals decimals', async (token) => {
    const engine = await startEngine('ARBITRUM');
    const read = async (functionName: 'name' | 'symbol' | 'decimals') => {
      const data = encodeFunctionData({ abi: erc20Abi, functionName });
      const answer = await engine.request('eth_call', [{ to: token.address, data }, 'latest']);
      if ('error' in answer) throw new Error(answer.error.message);
      return decodeFunctionResult({ abi: erc20Abi, functionName, data: answer.result as Hex });
    };
    expect([await read('name'), await read('symbol'), await read('decimals')]).toEqual([
      token.name,
      token.symbol,
      token.decimals,
    ]);
  });

  it('is minted by the faucet alone, and minting is a transfer from the zero address', async () => {
    const chain = await freshChain();
    const receipt = await chain.send(FAUCET, 'mint', ann, 500n);
    expect(receipt.status).toBe('0x1');
    expect(events(receipt)).toEqual([['Transfer', pad('0x', { size: 20 }), ann, 500n]]);
    expect((await chain.send(ann, 'mint', ann, 500n)).status).toBe('0x0');
    expect([await chain.read('balanceOf', ann), await chain.read('totalSupply')]).toEqual([500n, 500n]);
  });

  it('moves what the sender has, says so in an event and answers true', async () => {
    const chain = await freshChain();
    await chain.send(FAUCET, 'mint', ann, 500n);
    expect(await chain.ask('eth_call', [{ from: ann, to: USDC, data: transferData(bob, 1n) }, 'latest'])).toBe(
      pad('0x1', { size: 32 }),
    );
    const receipt = await chain.send(ann, 'transfer', bob, 500n);
    expect(events(receipt)).toEqual([['Transfer', ann, bob, 500n]]);
    expect(receipt.logs[0]?.address).toBe(USDC.toLowerCase());
    expect([await chain.read('balanceOf', ann), await chain.read('balanceOf', bob)]).toEqual([0n, 500n]);
  });

  it('neither makes nor loses money when an account pays itself', async () => {
    const chain = await freshChain();
    await chain.send(FAUCET, 'mint', ann, 500n);
    await chain.send(ann, 'transfer', ann, 200n);
    expect(await chain.read('balanceOf', ann)).toBe(500n);
  });

  it('lets a spender take what was approved and no more, an unlimited allowance staying unlimited', async () => {
    const chain = await freshChain();
    await chain.send(FAUCET, 'mint', ann, 500n);
    expect(events(await chain.send(ann, 'approve', eve, 300n))).toEqual([['Approval', ann, eve, 300n]]);
    expect(events(await chain.send(eve, 'transferFrom', ann, bob, 200n))).toEqual([['Transfer', ann, bob, 200n]]);
    expect(await chain.read('allowance', ann, eve)).toBe(100n);
    expect(await chain.reasonFor(eve, 'transferFrom', ann, bob, 101n)).toBe('ERC20: insufficient allowance');
    await chain.send(ann, 'approve', eve, LARGEST);
    await chain.send(eve, 'transferFrom', ann, bob, 300n);
    expect(await chain.read('allowance', ann, eve)).toBe(LARGEST);
    expect(await chain.read('balanceOf', bob)).toBe(500n);
  });

  it('says why it refuses', async () => {
    const chain = await freshChain();
    await chain.send(FAUCET, 'mint', ann, LARGEST);
    const zeroAddress = pad('0x', { size: 20 });
    expect(await chain.reasonFor(bob, 'transfer', ann, 1n)).toBe('ERC20: transfer amount exceeds balance');
    expect(await chain.reasonFor(bob, 'transferFrom', ann, bob, 1n)).toBe('ERC20: insufficient allowance');
    expect(await chain.reasonFor(ann, 'transfer', zeroAddress, 1n)).toBe('ERC20: transfer to the zero address');
    expect(await chain.reasonFor(FAUCET, 'mint', zeroAddress, 1n)).toBe('ERC20: transfer to the zero address');
    expect(await chain.reasonFor(FAUCET, 'mint', bob, 1n)).toBe('ERC20: total supply is full');
    expect(await chain.reasonFor(ann, 'mint', ann, 1n)).toBe('');
  });

  it.each<[string, Hex, object]>([
    ['coins', transferDataFor(bob), { value: '0x1' }],
    ['a call that names no function', '0x', {}],
    ['a call of a function that it does not have', '0xdeadbeef', {}],
    ['a call with an argument too few', `${transferDataFor(bob).slice(0, 74)}` as Hex, {}],
    [
      'an address that is longer than an address',
      concatHex([selectors.transfer, pad('0x', { dir: 'left', size: 11 }), '0x01', bob, pad('0x0', { size: 32 })]),
      {},
    ],
  ])('does not take %s', async (_, data, extra) => {
    const chain = await freshChain();
    expect((await chain.sendData(ann, data, extra)).status).toBe('0x0');
    expect((await chain.sendData(ann, transferDataFor(bob))).status).toBe('0x1');
  });

  it('keeps balances and allowances where Solidity would', async () => {
    const chain = await freshChain();
    await chain.send(FAUCET, 'mint', ann, 500n);
    await chain.send(ann, 'approve', bob, 7n);
    const slotOf = (key: Address, slot: Hex) => keccak256(concatHex([pad(key), pad(slot)]));
    const stored = async (slot: Hex) => BigInt((await chain.ask('eth_getStorageAt', [USDC, slot, 'latest'])) as Hex);
    expect(await stored(slotOf(ann, '0x0'))).toBe(500n);
    expect(await stored(slotOf(bob, slotOf(ann, '0x1')))).toBe(7n);
    expect(await stored(pad('0x2'))).toBe(500n);
  });

  it('has nothing to do with the other tokens of its chain', async () => {
    const chain = await freshChain();
    await chain.send(FAUCET, 'mint', ann, 500n);
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [ann] });
    expect(BigInt((await chain.ask('eth_call', [{ to: DAI, data }, 'latest'])) as Hex)).toBe(0n);
  });

  it('agrees with a reference ledger for any sequence of operations', async () => {
    const person = fc.constantFrom(ann, bob, eve);
    const amount = fc.oneof(fc.bigInt(0n, 20n), fc.constant(LARGEST));
    const operation = fc.record({ name: fc.constantFrom(...operations), by: person, of: person, to: person, amount });
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (list) => {
        const chain = await freshChain();
        const paper = new Paper();
        for (const { name, by, of, to, amount: value } of list) {
          const args = {
            mint: [to, value],
            transfer: [to, value],
            approve: [to, value],
            transferFrom: [of, to, value],
          };
          const { status } = await chain.send(name === 'mint' ? FAUCET : by, name, ...args[name]);
          expect(status === '0x1').toBe(paper.do(name, by, of, to, value));
        }
        for (const owner of people) {
          expect(await chain.read('balanceOf', owner)).toBe(paper.balance(owner));
          for (const spender of people) {
            expect(await chain.read('allowance', owner, spender)).toBe(paper.allowance(owner, spender));
          }
        }
        expect(await chain.read('totalSupply')).toBe(people.reduce((sum, who) => sum + paper.balance(who), 0n));
      }),
      { numRuns: 30 },
    );
  });
});

const operations = ['mint', 'transfer', 'approve', 'transferFrom'] as const;

class Paper {
  readonly #balances = new Map<string, bigint>();
  readonly #allowances = new Map<string, bigint>();
  #supply = 0n;

  balance = (who: string) => this.#balances.get(who) ?? 0n;
  allowance = (owner: string, spender: string) => this.#allowances.get(`${owner} ${spender}`) ?? 0n;

  do(name: (typeof operations)[number], by: string, of: string, to: string, value: bigint): boolean {
    if (name === 'mint') return this.#mint(to, value);
    if (name === 'transfer') return this.#move(by, to, value);
    if (name === 'approve') return Boolean(this.#allowances.set(`${by} ${to}`, value));
    const allowed = this.allowance(of, by);
    if (allowed < value || !this.#move(of, to, value)) return false;
    if (allowed !== LARGEST) this.#allowances.set(`${of} ${by}`, allowed - value);
    return true;
  }

  #mint(to: string, value: bigint): boolean {
    if (this.#supply + value > LARGEST) return false;
    this.#supply += value;
    this.#balances.set(to, this.balance(to) + value);
    return true;
  }

  #move(from: string, to: string, value: bigint): boolean {
    if (this.balance(from) < value) return false;
    this.#balances.set(from, this.balance(from) - value);
    this.#balances.set(to, this.balance(to) + value);
    return true;
  }
}

function transferData(to: Address, value: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, value] });
}

function transferDataFor(to: Address): Hex {
  return transferData(to, 0n);
}
