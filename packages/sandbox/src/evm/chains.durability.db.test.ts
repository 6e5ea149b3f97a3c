import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Db, sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import { encodeFunctionData, erc20Abi, parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '../../testing/evm-server.ts';
import { EvmChains, type EvmOptions } from './chains.ts';
import { type EvmChain, evmChains } from './tokens.ts';

const STRANGER = '0x2222222222222222222222222222222222222222';
const USDC = evmChains.BASE.tokens[0]?.address;

let database: TestDatabase;
beforeAll(async () => {
  database = await TestDatabase.create([migrations]);
});
afterAll(() => database.drop());

/** As another process sees the chains: nothing in memory yet. */
function newProcess(db: Db = database.db, options?: EvmOptions) {
  const chains = new EvmChains(db, options);
  const ask = async (chain: EvmChain, method: string, ...params: unknown[]) => {
    const answer = await chains.node(chain).handle({ jsonrpc: '2.0', id: 1, method, params });
    return answer as { result?: unknown; error?: { message: string } };
  };
  const read = async (chain: EvmChain, method: string, ...params: unknown[]) =>
    (await ask(chain, method, ...params)).result;
  return { chains, ask, read };
}
type Process = ReturnType<typeof newProcess>;

async function balance({ read }: Process, owner: `0x${string}`): Promise<bigint> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner] });
  return BigInt(String(await read('BASE', 'eth_call', { to: USDC, data }, 'latest')));
}

/** A funded account on BASE that signs transfers. */
async function customer({ chains }: Process) {
  const account = privateKeyToAccount(generatePrivateKey());
  await chains.fund('BASE', account.address, 'ETH', parseEther('1'));
  await chains.fund('BASE', account.address, 'USDC', 1_000n);
  const sign = (nonce: number, to: `0x${string}`, amount: bigint) =>
    account.signTransaction({
      chainId: evmChains.BASE.id,
      type: 'eip1559',
      to: USDC,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }),
      nonce,
      gas: 100_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 0n,
    });
  return { address: account.address, sign };
}

const newAddress = () => privateKeyToAccount(generatePrivateKey()).address;

/** Equal results mean equal chains. */
async function history({ read }: Process, chain: EvmChain): Promise<unknown[]> {
  const height = Number(await read(chain, 'eth_blockNumber'));
  const blocks: unknown[] = [];
  for (let number = 0; number <= height; number += 1) {
    const block = (await read(chain, 'eth_getBlockByNumber', `0x${number.toString(16)}`, true)) as {
      transactions: { hash: string }[];
    };
    const hash = block.transactions[0]?.hash;
    blocks.push(block, hash && (await read(chain, 'eth_getTransactionReceipt', hash)));
  }
  return blocks;
}

describe('a second process', () => {
  it('sees the same balances, blocks and receipts, to the last digit', async () => {
    const first = newProcess();
    const { address, sign } = await customer(first);
    await first.read('BASE', 'eth_sendRawTransaction', await sign(0, STRANGER, 10n));
    await first.ask('BASE', 'eth_sendRawTransaction', await sign(7, STRANGER, 10n));
    await first.read('BASE', 'eth_getBlockByNumber', 'pending', true);
    await first.read('BASE', 'eth_sendRawTransaction', await sign(1, STRANGER, 5_000n));
    await first.read('BASE', 'eth_sendRawTransaction', await sign(2, STRANGER, 30n));
    const second = newProcess();
    expect(await balance(second, address)).toBe(960n);
    expect(await history(second, 'BASE')).toEqual(await history(first, 'BASE'));
  });

  it('sees what the first does while both run, and the first what it does', async () => {
    const [first, second] = [newProcess(), newProcess()];
    const { address, sign } = await customer(first);
    const recipient = newAddress();
    expect(await balance(second, address)).toBe(1_000n);
    await second.read('BASE', 'eth_sendRawTransaction', await sign(0, recipient, 100n));
    expect(await balance(first, recipient)).toBe(100n);
    await first.read('BASE', 'eth_sendRawTransaction', await sign(1, recipient, 1n));
    expect(await balance(second, recipient)).toBe(101n);
  });

  it('can write at the same time as the first: every transfer happens once, in one order for both', async () => {
    const [first, second] = [newProcess(), newProcess()];
    const people = [await customer(first), await customer(first), await customer(second), await customer(second)];
    const recipient = newAddress();
    await Promise.all(
      people.map(async ({ sign }, index) => {
        for (let nonce = 0; nonce < 10; nonce += 1) {
          const process = (index + nonce) % 2 === 0 ? first : second;
          const { error } = await process.ask('BASE', 'eth_sendRawTransaction', await sign(nonce, recipient, 3n));
          expect(error).toBeUndefined();
        }
      }),
    );
    expect(await balance(first, recipient)).toBe(120n);
    expect(await history(second, 'BASE')).toEqual(await history(first, 'BASE'));
  });

  it('whose clock is behind gives its block no earlier time than the one before', async () => {
    const ahead = newProcess(database.db, { now: () => 4_000_000_000_000 });
    const behind = newProcess(database.db, { now: () => 3_000_000_000_000 });
    await ahead.chains.fund('SCROLL', STRANGER, 'DAI', 1n);
    await behind.chains.fund('SCROLL', STRANGER, 'DAI', 1n);
    const block = await newProcess().read('SCROLL', 'eth_getBlockByNumber', '0x2', false);
    expect(block).toMatchObject({ timestamp: `0x${(4_000_000_000).toString(16)}` });
  });

  it('reads a long history in pages', async () => {
    const first = newProcess();
    await database.db.run(sql`
      insert into sandbox.evm_log (chain, position, block_time, grant_address, grant_token, grant_amount)
      select 'WORLDCHAIN', n, 1800000000, ${STRANGER}, 'WLD', 1 from generate_series(1, 1001) as n`);
    expect(await first.read('WORLDCHAIN', 'eth_blockNumber')).toBe('0x3e9');
  });
});

describe('a transaction whose process is killed', () => {
  it('before it is stored never happened, and can be sent again', async () => {
    const { address, sign } = await customer(newProcess());
    const raw = await sign(0, STRANGER, 100n);
    expect(await killedWhileSending(raw, 'before it is stored')).toBe('SIGKILL');
    const survivor = newProcess();
    expect(await balance(survivor, address)).toBe(1_000n);
    expect((await survivor.ask('BASE', 'eth_sendRawTransaction', raw)).error).toBeUndefined();
    expect(await balance(newProcess(), address)).toBe(900n);
  });

  it('after it is stored has happened once, and sending it again does not double it', async () => {
    const running = newProcess();
    const { address, sign } = await customer(running);
    const raw = await sign(0, STRANGER, 100n);
    expect(await killedWhileSending(raw, 'after it is stored')).toBe('SIGKILL');
    expect(await balance(running, address)).toBe(900n);
    const again = await newProcess().ask('BASE', 'eth_sendRawTransaction', raw);
    expect(again.error?.message).toContain('nonce too low');
    expect(await balance(newProcess(), address)).toBe(900n);
  });
});

describe('a transaction that the database does not take', () => {
  it('is in no visible block, and can be sent again', async () => {
    let broken = false;
    const db: Db = {
      ...database.db,
      tx: (work) =>
        database.db.tx(async (tx) => {
          const result = await work(tx);
          if (broken) throw new Error('connection lost');
          return result;
        }),
    };
    const process = newProcess(db);
    const { address, sign } = await customer(process);
    const raw = await sign(0, STRANGER, 100n);
    broken = true;
    await expect(process.ask('BASE', 'eth_sendRawTransaction', raw)).rejects.toThrow('connection lost');
    expect(await balance(process, address)).toBe(1_000n);
    broken = false;
    expect((await process.ask('BASE', 'eth_sendRawTransaction', raw)).error).toBeUndefined();
    expect(await balance(process, address)).toBe(900n);
    expect(await history(newProcess(), 'BASE')).toEqual(await history(process, 'BASE'));
  });
});

describe('a log that does not fit', () => {
  it('because an entry is missing, or is no transaction, is said and not skipped', async () => {
    const rows = sql`insert into sandbox.evm_log (chain, position, block_time, raw_transaction) values`;
    await database.db.run(sql`${rows} ('ARBITRUM', 2, 1800000000, '\\x02')`);
    await expect(newProcess().read('ARBITRUM', 'eth_blockNumber')).rejects.toThrow('has no entry 1');
    await database.db.run(sql`${rows} ('ARBITRUM', 1, 1800000000, '\\x02')`);
    await expect(newProcess().read('ARBITRUM', 'eth_blockNumber')).rejects.toThrow('Entry 1 of the log of ARBITRUM');
  });
});

async function killedWhileSending(raw: string, moment: string): Promise<string> {
  const script = fileURLToPath(new URL('../../testing/evm-killed-writer.ts', import.meta.url));
  const child = spawn(process.execPath, [script, database.url, moment, raw], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [, signal] = await once(child, 'exit');
  return signal;
}
