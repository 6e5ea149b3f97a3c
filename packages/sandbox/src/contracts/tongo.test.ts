import { selector, UDC_ADDRESS } from '@svc/starknet';
import {
  type CipherBalance,
  decodeFund,
  decryptBalance,
  encodeFund,
  encodeRagequit,
  encodeRollover,
  encodeTransfer,
  encodeWithdraw,
  type ProofContext,
  proveFund,
  proveRagequit,
  proveRollover,
  proveTransfer,
  proveWithdraw,
  publicPoint,
} from '@svc/starknet/private-balance';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { call, STRK, TestChain, USDC } from '../../testing/test-chain.ts';
import { Reader, u256 } from './codec.ts';
import { predeployed } from './predeployed.ts';
import { TONGO_ADDRESS, tongo } from './tongo.ts';
import { state } from './tongo-types.ts';

const BITS = 8;
const KEYS = [1_001n, 1_002n, 1_003n] as const;
const [wallet, other] = predeployed.relayers.map(({ address }) => address) as [bigint, bigint];
const owner = predeployed.faucet.address;
const hint = { ciphertext: 7n, nonce: 1n };
const FEE = 4n * 10n ** 18n;

/** A small pool: its proofs take a fraction of the time of one with 32 bits. */
class Pool {
  readonly chain = new TestChain();
  address = 0n;

  async deploy(): Promise<void> {
    const constructorCalldata = [owner, USDC, 1n, 0n, BigInt(BITS), 1n];
    const calldata = [tongo.classHash, 1n, 1n, BigInt(constructorCalldata.length), ...constructorCalldata];
    const deployed = await this.chain.simulate(wallet, [call(UDC_ADDRESS, 'deployContract', calldata)]);
    const [address] = deployed.trace.execute?.calls[0]?.result ?? [];
    if (address === undefined) throw new Error(deployed.revertReason);
    this.address = address;
    await this.chain.mint(USDC, wallet, 10_000n);
  }

  async state(privateKey: bigint) {
    const { x, y } = publicPoint(privateKey);
    return state.read(new Reader(await this.chain.read(this.address, 'get_state', [x, y])));
  }

  async context(privateKey: bigint, sender = wallet): Promise<ProofContext> {
    const { nonce, balance } = await this.state(privateKey);
    const { chainId } = this.chain.block;
    return { chainId, pool: this.address, sender, nonce, balance, bits: BITS };
  }

  async amounts(privateKey: bigint): Promise<{ balance: bigint | undefined; pending: bigint | undefined }> {
    const { balance, pending } = await this.state(privateKey);
    const amount = (cipher: CipherBalance) => decryptBalance(cipher, privateKey, BITS + 4);
    return { balance: amount(balance), pending: amount(pending) };
  }

  async fund(privateKey: bigint, amount: bigint): Promise<bigint[]> {
    return encodeFund({ ...proveFund(await this.context(privateKey), privateKey, amount), hint });
  }

  /** The text of a refusal, or undefined. */
  async run(name: string, calldata: readonly bigint[], sender = wallet): Promise<string | undefined> {
    const approval = call(USDC, 'approve', [this.address, ...u256.write(10_000n)]);
    const outcome = await this.chain.simulate(sender, [approval, call(this.address, name, calldata)]);
    return outcome.revertReason;
  }

  setTerms(terms: { fee?: bigint; paused?: boolean; lag?: bigint }, sender = owner): Promise<string | undefined> {
    const { fee = 0n, paused = false, lag = 0n } = terms;
    return this.run('set_terms', [...u256.write(fee), paused ? 1n : 0n, lag], sender);
  }
}

let pool: Pool;
beforeEach(async () => {
  pool = new Pool();
  await pool.deploy();
});

type Step =
  | { readonly do: 'fund' | 'withdraw'; readonly who: number; readonly amount: bigint }
  | { readonly do: 'transfer'; readonly who: number; readonly to: number; readonly amount: bigint }
  | { readonly do: 'rollover' | 'ragequit'; readonly who: number };

const who = fc.nat(KEYS.length - 1);
const amount = fc.bigInt(0n, 20n);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('fund' as const, 'withdraw' as const), who, amount }),
  fc.record({ do: fc.constant('transfer' as const), who, to: who, amount }),
  fc.record({ do: fc.constantFrom('rollover' as const, 'ragequit' as const), who }),
);

interface Holding {
  balance: bigint;
  pending: bigint;
}

/** Runs a step on the pool and on the model; amounts above the balance take all of it. */
async function apply(pool: Pool, model: readonly Holding[], one: Step): Promise<string | undefined> {
  const privateKey = KEYS[one.who] ?? 1n;
  const holding = model[one.who] ?? { balance: 0n, pending: 0n };
  const context = await pool.context(privateKey);
  const { balance } = holding;
  const sum = 'amount' in one ? (one.amount < balance || one.do === 'fund' ? one.amount : balance) : balance;
  switch (one.do) {
    case 'fund':
      holding.balance += sum;
      return pool.run('fund', encodeFund({ ...proveFund(context, privateKey, sum), hint }));
    case 'withdraw':
      holding.balance -= sum;
      return pool.run(
        'withdraw',
        encodeWithdraw({ ...proveWithdraw(context, privateKey, { balance, amount: sum, to: other }), hint }),
      );
    case 'ragequit':
      holding.balance = 0n;
      return pool.run('ragequit', encodeRagequit({ ...proveRagequit(context, privateKey, sum, other), hint }));
    case 'rollover':
      holding.balance += holding.pending;
      holding.pending = 0n;
      return pool.run('rollover', encodeRollover({ ...proveRollover(context, privateKey), hint }));
    case 'transfer': {
      const recipient = model[one.to];
      holding.balance -= sum;
      if (recipient) recipient.pending += sum;
      const to = publicPoint(KEYS[one.to] ?? 1n);
      const transfer = proveTransfer(context, privateKey, { balance, amount: sum, to });
      return pool.run('transfer', encodeTransfer({ ...transfer, hintTransfer: hint, hintLeftover: hint }));
    }
  }
}

describe('the private pool', () => {
  it('of the first block wraps USDC one to one, in 32 bits, and knows no account', async () => {
    const { chain } = pool;
    expect(await chain.read(TONGO_ADDRESS, 'ERC20')).toEqual([USDC]);
    expect(await chain.read(TONGO_ADDRESS, 'get_rate')).toEqual([1n, 0n]);
    expect(await chain.read(TONGO_ADDRESS, 'get_bit_size')).toEqual([32n]);
    expect(await chain.read(TONGO_ADDRESS, 'get_owner')).toEqual([owner]);
    expect(await chain.read(TONGO_ADDRESS, 'auditor_key')).toEqual([1n]);
    expect(await chain.read(TONGO_ADDRESS, 'get_terms')).toEqual([0n, 0n, 0n, 0n]);
    expect(await pool.amounts(KEYS[0])).toEqual({ balance: 0n, pending: 0n });
    expect(await pool.state(KEYS[0])).toMatchObject({ nonce: 0n, ae_balance: undefined });
  });

  it('keeps as many tokens as its accounts own, whatever they do', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 10 }), async (steps) => {
        const fresh = new Pool();
        await fresh.deploy();
        const model: Holding[] = KEYS.map(() => ({ balance: 0n, pending: 0n }));
        for (const one of [{ do: 'fund', who: 0, amount: 17n } as const, ...steps]) {
          expect(await apply(fresh, model, one)).toBeUndefined();
        }
        const shown = await Promise.all(KEYS.map((privateKey) => fresh.amounts(privateKey)));
        expect(shown).toEqual(model);
        const owned = model.reduce((sum, { balance, pending }) => sum + balance + pending, 0n);
        expect(await fresh.chain.balance(USDC, fresh.address)).toBe(owned);
        const outside = (await fresh.chain.balance(USDC, wallet)) + (await fresh.chain.balance(USDC, other));
        expect(outside).toBe(10_000n - owned);
      }),
      { numRuns: 4 },
    );
  });

  it('takes a proof once, from the wallet it was made for, for the amount it was made for', async () => {
    const calldata = await pool.fund(KEYS[0], 5n);
    await pool.chain.mint(USDC, other, 5n);
    const more = decodeFund(calldata);
    if (!more) throw new Error('The calldata is well formed.');
    expect(await pool.run('fund', calldata, other)).toContain('Tongo: invalid proof');
    expect(await pool.run('fund', encodeFund({ ...more, amount: 6n }))).toContain('Tongo: invalid proof');
    expect(await pool.run('fund', calldata)).toBeUndefined();
    expect(await pool.run('fund', calldata)).toContain('Tongo: invalid proof');
    expect(await pool.amounts(KEYS[0])).toEqual({ balance: 5n, pending: 0n });
  });

  it('refuses keys off the curve, amounts beyond its bits, and calldata with an audit', async () => {
    expect(await pool.run('get_state', [1n, 1n])).toContain('PubKey is not an EcPoint');
    expect(await pool.run('fund', await pool.fund(KEYS[0], 256n))).toContain('Tongo: amount out of range');
    const { x, y } = publicPoint(KEYS[0]);
    expect(await pool.run('change_auditor_key', [x, y], owner)).toContain('Tongo: no auditor');
  });

  it('shows each operation as an event, with public amounts where tokens move', async () => {
    const { x, y } = publicPoint(KEYS[0]);
    const calldata = await pool.fund(KEYS[0], 5n);
    const approval = call(USDC, 'approve', [pool.address, 5n, 0n]);
    const { events } = await pool.chain.simulate(wallet, [approval, call(pool.address, 'fund', calldata)]);
    expect(events.at(-1)).toEqual({ from: pool.address, keys: [selector('FundEvent'), x, y, 0n], data: [5n] });
  });
});

describe("the pool's terms", () => {
  it('are set by the owner alone', async () => {
    expect(await pool.setTerms({ fee: FEE }, wallet)).toContain('Caller not owner');
    expect(await pool.setTerms({ fee: FEE, paused: true, lag: 12n })).toBeUndefined();
    expect(await pool.chain.read(pool.address, 'get_terms')).toEqual([FEE, 0n, 1n, 12n]);
  });

  it('pause shielding and nothing else', async () => {
    await pool.run('fund', await pool.fund(KEYS[0], 5n));
    await pool.setTerms({ paused: true });
    expect(await pool.run('fund', await pool.fund(KEYS[0], 5n))).toContain('Pool: shielding is paused');
    const quit = proveRagequit(await pool.context(KEYS[0]), KEYS[0], 5n, other);
    expect(await pool.run('ragequit', encodeRagequit({ ...quit, hint }))).toBeUndefined();
  });

  it('let an account wait until its last operation is older than the lag', async () => {
    await pool.setTerms({ lag: 12n });
    await pool.run('fund', await pool.fund(KEYS[0], 5n));
    pool.chain.pass(1n);
    const rollover = async (privateKey: bigint) =>
      encodeRollover({ ...proveRollover(await pool.context(privateKey), privateKey), hint });
    expect(await pool.run('rollover', await rollover(KEYS[0]))).toContain('Pool: busy for 12 blocks');
    expect(await pool.run('rollover', await rollover(KEYS[1]))).toBeUndefined();
    for (let i = 0; i < 12; i++) pool.chain.pass(1n);
    expect(await pool.run('rollover', await rollover(KEYS[0]))).toBeUndefined();
  });

  it('ask a fee in STRK for each operation, and once for a batch of shields', async () => {
    await pool.setTerms({ fee: FEE, lag: 12n });
    expect(await pool.run('fund', await pool.fund(KEYS[0], 5n))).toContain('Pool: fee unpaid');
    const before = await pool.chain.balance(STRK, owner);
    const context = await pool.context(KEYS[0]);
    const first = encodeFund({ ...proveFund(context, KEYS[0], 5n), hint });
    const second = encodeFund({ ...proveFund({ ...context, nonce: 1n }, KEYS[0], 6n), hint });
    const batch = await pool.chain.simulate(wallet, [
      call(USDC, 'approve', [pool.address, 100n, 0n]),
      call(STRK, 'approve', [pool.address, ...u256.write(2n * FEE)]),
      call(pool.address, 'fund', first),
      call(pool.address, 'fund', second),
    ]);
    expect(batch.revertReason).toBeUndefined();
    expect((await pool.chain.balance(STRK, owner)) - before).toBe(FEE);
    expect(await pool.amounts(KEYS[0])).toEqual({ balance: 11n, pending: 0n });
    for (let i = 0; i < 13; i++) pool.chain.pass(1n);
    const quit = proveRagequit(await pool.context(KEYS[0]), KEYS[0], 11n, other);
    expect(await pool.run('ragequit', encodeRagequit({ ...quit, hint }))).toBeUndefined();
    expect((await pool.chain.balance(STRK, owner)) - before).toBe(2n * FEE);
  });
});
