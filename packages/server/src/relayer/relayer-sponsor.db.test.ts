import { ApiError } from '@svc/protocol';
import { ANY_CALLER, sign, starkKey, toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newWallet, relayer, testCrypto, transferCall } from '../../testing/chain.ts';
import { RelayerFixture } from '../../testing/relayer.ts';
import type { HeldKey } from '../crypto/crypto.ts';
import { correctBudget } from './budget.ts';
import type { Sponsor } from './relay.ts';
import { findRelay, findRelayByHash } from './relay-store.ts';

const PATIENCE = { timeout: 60_000, interval: 2 };
const nothing = async () => {};
const request = { environment: 'development', account: 0x1n, deployment: undefined, calls: [] } as const;
const twice = () => Promise.reject(new Error('stored twice'));

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start({ accounts: 3 });
});
afterAll(() => relayers.stop());

const doesSomeoneWait = async () => (await relayers.db.rows(sql`select from pg_locks where not granted`)).length > 0;

/** No nonce is missing or given out twice. Answers how many accounts have any. */
async function expectWholeNonces(): Promise<number> {
  const rows = await relayers.db.rows<{ nonces: bigint[]; next: bigint; states: string[] }>(sql`
    select array_agg(nonce order by nonce) as nonces, array_agg(distinct state) as states,
           (select next_nonce from relayer_accounts where address = account) as next
      from relays group by account`);
  for (const { nonces, next, states } of rows) {
    expect(states).toEqual(['SUCCEEDED']);
    expect(nonces).toEqual(nonces.map((_, index) => next - BigInt(nonces.length - index)));
  }
  return rows.length;
}

describe('what an owner is asked to sign', () => {
  it('is open to any caller for exactly an hour that began a minute ago, with a random nonce', async () => {
    await relayers.begin();
    const { sponsor } = relayers;
    const first = await sponsor.prepare(request);
    const seconds = BigInt(Math.floor(Date.now() / 1_000));
    expect(first).toMatchObject({ caller: ANY_CALLER, calls: [] });
    expect(first.executeBefore - first.executeAfter).toBe(3_600n);
    expect(seconds - first.executeAfter).toBeGreaterThanOrEqual(59n);
    expect((await sponsor.prepare(request)).nonce).not.toBe(first.nonce);
    expect((await relayers.sponsorWith({ random: () => 7n }).prepare(request)).nonce).toBe(7n);
  });

  it('follows a chain whose clock is ahead', async () => {
    await relayers.begin();
    const { sponsor } = relayers;
    await relayers.sandbox.travel(86_400);
    const { executeAfter } = await sponsor.prepare(request);
    expect(executeAfter).toBeGreaterThan(BigInt(Math.floor(Date.now() / 1_000)) + 86_000n);
  });
});

describe('a sponsored execution', () => {
  it('deploys a wallet and runs what its owner signed in one transaction', async () => {
    await relayers.begin();
    const { sponsor, chain, outcomes, db } = relayers;
    const wallet = newWallet();
    const stored: unknown[] = [];
    const asked = await wallet.prepared(sponsor, [], { deploy: true });
    const { id, hash } = await sponsor.sponsor(asked, async (_tx, relay) => void stored.push(relay));
    expect(stored).toEqual([{ id, hash }]);
    expect(await chain.classHashAt(wallet.address)).toBe(wallet.deployment.classHash);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
    const receipt = await chain.receipt(hash);
    expect(outcomes).toMatchObject([
      { relayId: id, kind: 'wallet', result: 'SUCCEEDED', hash, account: wallet.address, receipt },
    ]);
    expect(outcomes[0]?.confirmedAt).toEqual((await chain.block(receipt?.blockNumber ?? 0))?.timestamp);
    const relay = await findRelay(db.reads, id);
    expect(relay).toMatchObject({ hash, blockNumber: receipt?.blockNumber, blockHash: receipt?.blockHash });
    expect(await findRelayByHash(db.reads, chain.chainId, hash)).toEqual(relay);
  });

  it('moves money once when it is asked for at the same moment through two processes, and again later', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    const other = relayers.sponsorWith({});
    const answers = await Promise.all([sponsor, other, sponsor, other].map((one) => one.sponsor(asked, nothing)));
    expect(new Set(answers.map(({ hash }) => hash)).size).toBe(1);
    await relayers.finish();
    expect(await sponsor.sponsor(asked, twice)).toEqual(answers[0]);
    expect(await relayers.balance(bob)).toBe(7n);
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
  });

  it('answers the first when that lands while a second one is being estimated', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, chain } = relayers;
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    const first = Promise.withResolvers<unknown>();
    const late = relayers.sponsorWith(
      {},
      {
        estimate: async (...args) => {
          first.resolve(await sponsor.sponsor(asked, nothing));
          return chain.estimate(...args);
        },
      },
    );
    expect(await late.sponsor(asked, twice)).toEqual(await first.promise);
  });

  it('that is asked for again while the outcome of the first is being stored does not wait for it', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, chain, db } = relayers;
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    const ended = new AbortController();
    let outcome = Promise.resolve();
    const beginOutcome = async (id: string) => {
      const isLocked = Promise.withResolvers<void>();
      outcome = db.tx(async (tx) => {
        await tx.run(sql`update relays set updated_at = now() where id = ${id}`);
        isLocked.resolve();
        let isAwaited = false;
        while (!isAwaited && !ended.signal.aborted) isAwaited = await doesSomeoneWait();
        await correctBudget(tx, id, { fri: 1n, counts: true, reverted: false });
      });
      await isLocked.promise;
    };
    const late = relayers.sponsorWith(
      {},
      {
        estimate: async (...args) => {
          const estimate = await chain.estimate(...args);
          await beginOutcome((await sponsor.sponsor(asked, nothing)).id);
          return estimate;
        },
      },
    );
    const second = late.sponsor(asked, twice).finally(() => ended.abort());
    const [answer] = await Promise.all([second, second.then(() => outcome)]);
    expect(answer).toEqual(await sponsor.sponsor(asked, twice));
  });

  it('is refused when its nonce was used for another message', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    await sponsor.sponsor(asked, nothing);
    const other = payer.sponsorshipOf({ ...asked.execution, calls: [transferCall('USDC', bob, 8n)] });
    await expect(sponsor.sponsor(other, twice)).rejects.toMatchObject({ code: 'invalid_typed_data' });
    expect(await relayers.states()).toHaveLength(1);
  });

  it('that would revert is refused with the reason of the contract, and nothing is stored or spent', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const nonce = await relayers.nonce();
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 1_001n)]);
    const refusal = await sponsor.sponsor(asked, twice).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ApiError);
    expect(refusal).toMatchObject({ code: 'transaction_reverted', status: 400 });
    expect((refusal as ApiError).message).toContain('ERC20: insufficient balance');
    expect(await relayers.states()).toEqual([]);
    expect(await relayers.nonce()).toBe(nonce);
  });

  it('leaves nothing behind when what belongs to it cannot be stored, and its nonce goes to the next', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    await expect(sponsor.sponsor(asked, twice)).rejects.toThrow('stored twice');
    expect(await relayers.states()).toEqual([]);
    await sponsor.sponsor(asked, nothing);
    await relayers.finish();
    expect(await relayers.balance(bob)).toBe(7n);
  });

  it('is stored in one transaction with others of its organisation that wait, each with its own nonce', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { chain } = relayers;
    let estimated = 0;
    const estimate: typeof chain.estimate = async (invoke) => {
      const answer = await chain.estimate(invoke);
      estimated += 1;
      return answer;
    };
    const sponsor = relayers.sponsorWith({}, { estimate });
    const gate = Promise.withResolvers<void>();
    const transactions: unknown[] = [];
    const relay = async (isGated: boolean) => {
      const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]);
      return sponsor.sponsor(asked, async (tx) => {
        if (isGated) await gate.promise;
        transactions.push(await tx.one(sql`select pg_current_xact_id()::text as number`));
      });
    };
    const first = relay(true);
    await vi.waitFor(() => expect(estimated).toBe(1), PATIENCE);
    const others = Array.from({ length: 5 }, () => relay(false));
    await vi.waitFor(() => expect(estimated).toBe(6), PATIENCE);
    await new Promise((resolve) => setImmediate(resolve));
    gate.resolve();
    await Promise.all([first, ...others]);
    expect(transactions).toHaveLength(6);
    expect(new Set(transactions.map((number) => JSON.stringify(number))).size).toBe(2);
    await relayers.finish();
    expect(await relayers.balance(bob)).toBe(6n);
    await expectWholeNonces();
  });

  it('reaches the node after the one with the nonce before it, and does not wait for long', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { chain } = relayers;
    const nonces: bigint[] = [];
    const send: typeof chain.send = async (signed) => {
      const outcome = await chain.send(signed);
      nonces.push(BigInt(signed.transaction.nonce));
      return outcome;
    };
    const keys = () => relayers.deps.keys('development').slice(0, 1);
    const relay = async (sponsor: Sponsor) =>
      sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]), nothing);
    const sponsor = relayers.sponsorWith({ keys, maxTurnMs: 3_600_000 }, { send });
    await Promise.all(Array.from({ length: 12 }, () => relay(sponsor)));
    expect(nonces).toHaveLength(12);
    expect(nonces).toEqual(nonces.toSorted((one, other) => (one < other ? -1 : 1)));

    let isFirst = true;
    const silent = Promise.withResolvers<never>();
    const hasty = relayers.sponsorWith(
      { keys, maxTurnMs: 0 },
      {
        send: (signed) => {
          const isSilent = isFirst;
          isFirst = false;
          return isSilent ? silent.promise : send(signed);
        },
      },
    );
    const held = relay(hasty);
    await vi.waitFor(() => expect(isFirst).toBe(false), PATIENCE);
    await relay(hasty);
    silent.reject(new ApiError('chain_unavailable'));
    await expect(held).rejects.toMatchObject({ code: 'chain_unavailable' });
    await relayers.finish();
    expect(await relayers.balance(bob)).toBe(14n);
    await expectWholeNonces();
  });

  it('leaves those that are stored with it alone when its own rows cannot be, and is not stored twice with itself', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const sponsor = relayers.sponsorWith({});
    const all = await Promise.all(
      Array.from({ length: 12 }, () => payer.prepared(sponsor, [transferCall('USDC', bob, 1n)])),
    );
    const stored = new Set<string>();
    const answers = await Promise.allSettled(
      [...all, ...all.slice(0, 3)].map((asked, index) =>
        sponsor.sponsor(asked, async (_, { id }) => {
          if (index === 7) throw new Error('not this one');
          stored.add(id);
        }),
      ),
    );
    expect(answers.flatMap((answer, index) => (answer.status === 'rejected' ? [index] : []))).toEqual([7]);
    await relayers.finish();
    expect(await relayers.states()).toEqual(Array(11).fill('SUCCEEDED'));
    expect(await relayers.balance(bob)).toBe(11n);
    for (const { id } of await relayers.db.rows<{ id: string }>(sql`select id from relays`))
      expect(stored).toContain(id);
    await expectWholeNonces();
  });

  it('waits only for those that run, while 500 of another organisation wait', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const started: { readonly isQuiet: boolean; end(): void }[] = [];
    let isSeen = false;
    const sponsor = relayers.sponsorWith(
      {},
      {
        estimate: (invoke) =>
          new Promise((_, reject) => {
            const isQuiet = JSON.stringify(invoke).includes(toHex(bob));
            const end = () => reject(new Error('enough'));
            started.push({ isQuiet, end });
            if (isSeen) end();
          }),
      },
    );
    const { user, ...asked } = await payer.prepared(sponsor, [transferCall('USDC', payer.address, 7n)]);
    const loud = Array.from({ length: 516 }, (_, nonce) => {
      const execution = { ...asked.execution, nonce: BigInt(nonce) };
      return sponsor.sponsor({ ...asked, user, execution, messageHash: BigInt(nonce) }, twice);
    });
    const running = 16;
    await vi.waitFor(() => expect(started).toHaveLength(running), PATIENCE);
    const { execution } = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    const quiet = { ...asked, execution, messageHash: 7n, user: { ...user, organizationId: 'org_quiet' } };
    const all = Promise.allSettled([...loud, sponsor.sponsor(quiet, twice)]);
    let ended = 0;
    for (; !started.some(({ isQuiet }) => isQuiet) && ended <= running; ended++) {
      started[ended]?.end();
      await vi.waitFor(() => expect(started.length).toBeGreaterThan(running + ended), PATIENCE);
    }
    expect(started.some(({ isQuiet }) => isQuiet)).toBe(true);
    expect(ended).toBeLessThanOrEqual(running);
    isSeen = true;
    for (const { end } of started) end();
    for (const { status } of await all) expect(status).toBe('rejected');
    expect(started).toHaveLength(517);
  });

  it('is signed by a key that is held elsewhere; while that is silent, nothing is stored', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { address, privateKey } = relayer(1);
    let isSilent = true;
    const held: HeldKey = {
      publicKey: starkKey(privateKey),
      sign: async ({ hash }) => (isSilent ? Promise.reject(new ApiError('chain_unavailable')) : sign(hash, privateKey)),
    };
    const sponsor = relayers.sponsorWith({ keys: () => [{ address, held }] });
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    await expect(sponsor.sponsor(asked, nothing)).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect(await relayers.states()).toEqual([]);
    isSilent = false;
    await sponsor.sponsor(asked, nothing);
    await relayers.finish();
    expect(await relayers.balance(bob)).toBe(7n);
  });

  it('needs an account that pays', async () => {
    await relayers.begin();
    const none = relayers.sponsorWith({ keys: () => [] });
    const refused = { code: 'chain_not_configured', message: expect.stringContaining('RELAYER_ACCOUNTS') };
    await expect(none.prepare(request)).rejects.toMatchObject(refused);
    const undeployed = relayers.sponsorWith({ keys: () => [{ address: 0xdeadn, privateKey: 1n }] });
    const asked = await newWallet().prepared(undeployed);
    await expect(undeployed.sponsor(asked, twice)).rejects.toMatchObject(refused);
  });

  it('is turned away before anything is stored when the accounts have no money left', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    await relayers.db.run(sql`update relayer_accounts set balance = 10`);
    await expect(sponsor.sponsor(asked, twice)).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect(await relayers.states()).toEqual([]);
  });

  it('is not given to an account that has less than it may cost', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const price = 10n ** 15n;
    const dear = {
      estimate: async () => {
        const [gas, none] = [
          { amount: 2_000n, price },
          { amount: 0n, price },
        ];
        return { ok: true, fee: 2_000n * price, l1Gas: none, l1DataGas: none, l2Gas: gas } as const;
      },
    };
    const sponsor = relayers.sponsorWith({}, dear);
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    // Half as much room again in amounts and in prices.
    const most = 3_000n * ((price * 3n) / 2n);
    await relayers.db.run(sql`update relayer_accounts set balance = ${most - 1n}`);
    const refused = { code: 'chain_unavailable', message: expect.stringContaining('lack STRK') };
    await expect(sponsor.sponsor(asked, twice)).rejects.toMatchObject(refused);
    expect(await relayers.states()).toEqual([]);
    const [rich] = await relayers.db.rows<{ address: string }>(sql`
      update relayer_accounts set balance = ${most}
       where address = (select max(address) from relayer_accounts) returning address`);
    // Stored, and then refused by a chain that wants other gas than was made up here.
    await expect(sponsor.sponsor(asked, nothing)).rejects.toThrow('It is stored');
    expect(await relayers.db.rows(sql`select account from relays`)).toEqual([{ account: rich?.address }]);
    await relayers.finish();
  });

  it('is refused before anything is stored when it is larger than nodes take', async () => {
    const payer = await relayers.begin();
    const { sponsor } = relayers;
    const big = { to: payer.address, selector: 1n, calldata: new Array<bigint>(4_500).fill(1n) };
    const refused = { code: 'invalid_request', status: 400, message: expect.stringMatching(/45\d\d felts.*4500/) };
    await expect(sponsor.sponsor(await payer.prepared(sponsor, [big]), twice)).rejects.toMatchObject(refused);
    expect(await relayers.states()).toEqual([]);
  });

  it('is refused when it would cost more than is paid for one, with both numbers', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    const stingy = relayers.sponsorWith({ maxFeeFri: 1n });
    const refused = {
      code: 'fee_too_high',
      status: 400,
      message: expect.stringMatching(/cost \d+\.\d{4} .* 0\.0000 STRK/),
    };
    await expect(stingy.sponsor(asked, twice)).rejects.toMatchObject(refused);
    expect(await relayers.states()).toEqual([]);
    await relayers.sponsorWith({ maxFeeFri: 10n ** 19n }).sponsor(asked, nothing);
    await relayers.finish();
    expect(await relayers.balance(bob)).toBe(7n);
  });

  it('is not hashed again when the caller has its hash', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const crypto = { ...testCrypto, executionHash: () => Promise.reject(new Error('hashed again')) };
    const sponsor = relayers.sponsorWith({ crypto });
    const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]);
    const messageHash = await testCrypto.executionHash(asked.execution, payer.address, relayers.chain.chainId);
    const { id } = await sponsor.sponsor({ ...asked, messageHash }, nothing);
    expect(await findRelay(relayers.db.reads, id)).toMatchObject({ messageHash });
    await relayers.finish();
  });

  it('shares the work among the accounts, with no nonce missing or given out twice', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor } = relayers;
    const other = relayers.sponsorWith({});
    const all = await Promise.all(
      Array.from({ length: 12 }, () => payer.prepared(sponsor, [transferCall('USDC', bob, 1n)])),
    );
    await Promise.all(all.map((asked, index) => (index % 2 ? sponsor : other).sponsor(asked, nothing)));
    await relayers.finish();
    expect(await relayers.balance(bob)).toBe(12n);
    expect(await expectWholeNonces()).toBe(3);
  });

  it('is refused before anything is stored when too many requests wait for the node', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { chain } = relayers;
    const gate = Promise.withResolvers<void>();
    const estimate: typeof chain.estimate = (...args) => gate.promise.then(() => chain.estimate(...args));
    const sponsor = relayers.sponsorWith({ maxQueued: 2 }, { estimate });
    const signed = await Promise.all(
      Array.from({ length: 19 }, () => payer.prepared(sponsor, [transferCall('USDC', bob, 1n)])),
    );
    const answers = signed.map((each) => sponsor.sponsor(each, nothing));
    await expect(Promise.race(answers)).rejects.toMatchObject({
      code: 'chain_unavailable',
      message: expect.stringContaining('Nothing was stored or sent'),
    });
    gate.resolve();
    const settled = await Promise.allSettled(answers);
    await relayers.finish();
    // Fewer than were admitted here: the next stage has a queue of its own.
    const taken = settled.filter(({ status }) => status === 'fulfilled').length;
    expect(await relayers.states()).toEqual(Array(taken).fill('SUCCEEDED'));
    expect(await relayers.balance(bob)).toBe(BigInt(taken));
  });

  it('is sent by the worker when too many requests wait to send theirs', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { chain } = relayers;
    const gate = Promise.withResolvers<void>();
    let sending = 0;
    const send: typeof chain.send = (signed) => {
      sending += 1;
      return gate.promise.then(() => chain.send(signed));
    };
    const sponsor = relayers.sponsorWith({ maxQueued: 0, maxTurnMs: 0 }, { send });
    const relay = async () => sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]), nothing);
    const answers: Promise<unknown>[] = [];
    for (let count = 1; count <= 16; count += 1) {
      answers.push(relay());
      await expect.poll(() => sending).toBe(count);
    }
    expect(await relay()).toMatchObject({ hash: expect.any(BigInt) });
    expect(sending).toBe(16);
    gate.resolve();
    await Promise.all(answers);
    await relayers.finish();
    expect(await relayers.balance(bob)).toBe(17n);
  });
});
