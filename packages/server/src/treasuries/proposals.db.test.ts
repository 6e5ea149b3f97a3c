import { ApiError } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signersOf, TestSigner, type TestTreasury, TreasuryFixture } from '../../testing/treasuries.ts';
import { refusal } from '../../testing/wallets.ts';
import { nextStates } from './proposal-store.ts';

let fixture: TreasuryFixture;
let two: TestTreasury;
beforeAll(async () => {
  fixture = await TreasuryFixture.start();
  two = await fixture.treasury(signersOf(3), 2);
});
afterAll(() => fixture.relayers.stop());

const [first, second, third] = [0, 1, 2].map((index) => () => two.signers[index] as TestSigner) as [
  () => TestSigner,
  () => TestSigner,
  () => TestSigner,
];

async function ready(units = 1, more: object = {}) {
  const proposal = await fixture.payment(two, units, more);
  await fixture.sign(two, proposal, first());
  await fixture.sign(two, proposal, second());
  return proposal;
}

describe('a proposal', () => {
  it('is PENDING until enough signers have signed, then executed once, and told of by events', async () => {
    const proposal = await fixture.payment(two, 5);
    expect(proposal).toMatchObject({ state: 'PENDING', requiredSignatures: 2, signatures: [], executedTxHash: null });
    expect(await fixture.sign(two, proposal, third())).toMatchObject({ state: 'PENDING' });
    await refusal(fixture.execute(proposal), 'proposal_not_ready');
    expect(await fixture.sign(two, proposal, first())).toMatchObject({ state: 'READY' });
    expect(await fixture.execute(proposal)).toMatchObject({ state: 'EXECUTING', transactionHash: expect.any(String) });
    await fixture.finish();
    const executed = await fixture.get(proposal);
    expect(executed).toMatchObject({ state: 'EXECUTED', executedTxHash: executed.transactionHash });
    expect(await fixture.balance(proposal.to)).toBe(5n);
    expect(await fixture.execute(proposal)).toMatchObject({ state: 'EXECUTED' });
    expect(await fixture.events(proposal)).toEqual(['created', 'signed', 'signed', 'executed']);
  });

  it('counts a signature once for each signer, and those of signers alone', async () => {
    const proposal = await fixture.payment(two);
    for (let time = 0; time < 3; time += 1) {
      expect((await fixture.sign(two, proposal, first())).signatures).toHaveLength(1);
    }
    await refusal(fixture.sign(two, proposal, new TestSigner()), 'not_a_signer');
    const { signature } = first().sign(proposal, two.treasury);
    const claimed = { publicKey: second().publicKey, signature };
    await refusal(fixture.send(two.treasury, proposal, claimed), 'invalid_signature');
    expect(await fixture.events(proposal)).toEqual(['created', 'signed']);
  });

  it('takes no signature of another proposal or another treasury', async () => {
    const other = await fixture.treasury(two.signers, 2);
    const [one, another] = [await fixture.payment(two), await fixture.payment(two)];
    await refusal(fixture.send(two.treasury, one, first().sign(another, two.treasury)), 'invalid_signature');
    await refusal(fixture.send(two.treasury, one, first().sign(one, other.treasury)), 'invalid_signature');
    expect(await fixture.get(one)).toMatchObject({ signatures: [] });
  });

  it('is never executed once it is cancelled, and not cancelled once it is under way', async () => {
    const cancelled = await ready();
    expect(await fixture.cancel(cancelled)).toMatchObject({ state: 'CANCELLED' });
    await refusal(fixture.execute(cancelled), 'proposal_not_open');
    await refusal(fixture.sign(two, cancelled, third()), 'proposal_not_open');
    const executing = await ready();
    await fixture.execute(executing);
    await refusal(fixture.cancel(executing), 'proposal_not_open');
    await fixture.finish();
    expect([await fixture.balance(cancelled.to), await fixture.balance(executing.to)]).toEqual([0n, 1n]);
  });

  it('of a member is cancelled by that member alone', async () => {
    const member = { email: 'eva@example.com' } as NonNullable<(typeof fixture.caller)['member']>;
    const eva = { ...fixture.caller, keyId: 'member:mem_1', secretKeyId: undefined, member };
    const transfers = [{ token: 'USDC' as const, recipient: '0xb0b', amount: '0.000001' }];
    const proposal = await fixture.propose(two, { transfers }, eva);
    expect(proposal.proposedBy).toBe('eva@example.com');
    await refusal(fixture.cancel(proposal), 'not_the_proposer');
    expect(await fixture.get(proposal)).toMatchObject({ state: 'PENDING' });
    expect(await fixture.cancel(proposal, eva)).toMatchObject({ state: 'CANCELLED' });
  });

  it('that is replaced is never executed: both have one nonce, of which the chain takes one', async () => {
    const old = await ready(3);
    const replacement = await ready(4, { replaces: old.id });
    expect(await fixture.get(old)).toMatchObject({ state: 'CANCELLED', replacedBy: replacement.id });
    await refusal(fixture.execute(old), 'proposal_not_open');
    const nonceOf = ({ typedData }: typeof old) => (typedData as { message: { Nonce: string } }).message.Nonce;
    expect(nonceOf(replacement)).toBe(nonceOf(old));
    await fixture.execute(replacement);
    await fixture.finish();
    expect([await fixture.balance(old.to), await fixture.balance(replacement.to)]).toEqual([0n, 4n]);
  });

  it('that would revert is refused and stays READY', async () => {
    const proposal = await ready(900_000_000);
    await refusal(fixture.execute(proposal), 'transaction_reverted');
    expect(await fixture.get(proposal)).toMatchObject({ state: 'READY', transactionHash: null });
  });

  it('that is cancelled while its execution is being stored is not stored', async () => {
    const proposal = await ready();
    const { sponsor } = fixture.relayers;
    const racing = {
      ...sponsor,
      prepare: sponsor.prepare.bind(sponsor),
      sponsor: (async (sponsorship, store) => {
        await fixture.cancel(proposal);
        return sponsor.sponsor(sponsorship, store);
      }) satisfies typeof sponsor.sponsor,
    };
    const before = await fixture.relaysOf(two.treasury);
    await refusal(fixture.execute(proposal, racing), 'proposal_not_open');
    expect(await fixture.relaysOf(two.treasury)).toBe(before);
    expect(await fixture.get(proposal)).toMatchObject({ state: 'CANCELLED' });
  });

  it('executed by ten clients at once is executed once', async () => {
    const proposal = await ready(2);
    // Each runs passes of the relay worker while it waits.
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => fixture.execute(proposal)));
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
    for (const reason of refused) expect(reason).toBeInstanceOf(ApiError);
    await fixture.finish();
    expect(await fixture.get(proposal)).toMatchObject({ state: 'EXECUTED' });
    expect(await fixture.balance(proposal.to)).toBe(2n);
  });

  it('of a process that is killed before it sends is executed once, by the relay worker', async () => {
    const proposal = await ready(7);
    const killed = fixture.relayers.sponsorWith({}, { send: () => Promise.reject(new Error('killed')) });
    await fixture.execute(proposal, killed).catch(() => undefined);
    expect(await fixture.get(proposal)).toMatchObject({ state: 'EXECUTING' });
    await fixture.finish();
    await fixture.execute(proposal);
    await fixture.finish();
    expect(await fixture.get(proposal)).toMatchObject({ state: 'EXECUTED' });
    expect(await fixture.balance(proposal.to)).toBe(7n);
    expect(await fixture.events(proposal)).toEqual(['created', 'signed', 'signed', 'executed']);
  });

  it('of a process that is killed while it stores leaves nothing, and can be executed again', async () => {
    const proposal = await ready(8);
    const { sponsor } = fixture.relayers;
    const killed = {
      prepare: sponsor.prepare.bind(sponsor),
      sponsor: ((sponsorship, store) =>
        sponsor.sponsor(sponsorship, async (tx, relay) => {
          await store(tx, relay);
          throw new Error('killed');
        })) satisfies typeof sponsor.sponsor,
    };
    const before = await fixture.relaysOf(two.treasury);
    await expect(fixture.execute(proposal, killed)).rejects.toThrow('killed');
    expect([await fixture.relaysOf(two.treasury), (await fixture.get(proposal)).state]).toEqual([before, 'READY']);
    await fixture.execute(proposal);
    await fixture.finish();
    expect(await fixture.balance(proposal.to)).toBe(8n);
  });

  it('ends FAILED with the reason where the chain reverts it', async () => {
    const poor = await fixture.treasury(signersOf(1), 1);
    const [signer] = poor.signers as [TestSigner];
    const silent = fixture.relayers.sponsorWith({}, { send: () => Promise.reject(new Error('killed')) });
    const all = [await fixture.payment(poor, 900_000), await fixture.payment(poor, 900_000)];
    for (const proposal of all) {
      await fixture.sign(poor, proposal, signer);
      await fixture.execute(proposal, silent).catch(() => undefined);
    }
    await fixture.finish();
    const ends = await Promise.all(all.map((proposal) => fixture.get(proposal)));
    expect(ends.map(({ state }) => state)).toEqual(['EXECUTED', 'FAILED']);
    expect(ends[1]?.failureReason).toContain('ERC20: insufficient balance');
    expect(await fixture.events(ends[1] as (typeof ends)[number])).toEqual(['created', 'signed', 'failed']);
  });
});

describe('an expired proposal', () => {
  it('is never executed, and is told of once', async () => {
    const expiresAt = new Date(fixture.relayers.clock.now() + 120_000).toISOString();
    const proposal = await ready(6, { expiresAt });
    fixture.relayers.clock.advance(121_000);
    await refusal(fixture.execute(proposal), 'proposal_not_open');
    await refusal(fixture.sign(two, proposal, third()), 'proposal_not_open');
    await fixture.expire();
    await fixture.expire();
    expect(await fixture.get(proposal)).toMatchObject({ state: 'EXPIRED' });
    await refusal(fixture.execute(proposal), 'proposal_not_open');
    expect(await fixture.balance(proposal.to)).toBe(0n);
    expect((await fixture.events(proposal)).filter((type) => type === 'expired')).toHaveLength(1);
    fixture.relayers.clock.reset();
  });
});

describe('a policy', () => {
  it('changes by a proposal, after which a removed signer counts nowhere', async () => {
    const three = await fixture.treasury(signersOf(3), 2);
    const [ana, luis, eva] = three.signers as [TestSigner, TestSigner, TestSigner];
    const waiting = await fixture.payment(three);
    await fixture.sign(three, waiting, ana);
    await fixture.sign(three, waiting, luis);
    const named = [luis, eva].map(({ publicKey }) => ({ name: 'Signer', publicKey }));
    const change = await fixture.changePolicy(three, { signers: named });
    expect(change).toMatchObject({ kind: 'POLICY', state: 'PENDING', requiredSignatures: 2 });
    await fixture.sign(three, change, ana);
    await fixture.sign(three, change, luis);
    await fixture.execute(change);
    await fixture.finish();
    expect((await fixture.read(three.treasury.id)).signers.map(({ publicKey }) => publicKey)).toEqual(
      named.map(({ publicKey }) => publicKey),
    );
    expect(await fixture.get(waiting)).toMatchObject({ state: 'PENDING', signatures: [{ publicKey: luis.publicKey }] });
    await refusal(fixture.execute(waiting), 'proposal_not_ready');
    await refusal(fixture.sign(three, waiting, ana), 'not_a_signer');
    await fixture.sign(three, waiting, eva);
    await fixture.execute(waiting);
    await fixture.finish();
    expect(await fixture.balance(waiting.to)).toBe(1n);
  });

  it('that is proposed twice changes once: the later proposal replaces the earlier', async () => {
    const pair = await fixture.treasury(signersOf(2), 2);
    const [earlier, later] = [
      await fixture.changePolicy(pair, { threshold: 1 }),
      await fixture.changePolicy(pair, { limits: [{ token: 'USDC', threshold: 1, amount: '1', windowSeconds: 60 }] }),
    ];
    expect(await fixture.get(earlier)).toMatchObject({ state: 'CANCELLED', replacedBy: later.id });
    for (const signer of pair.signers) await fixture.sign(pair, later, signer);
    await fixture.execute(later);
    await fixture.finish();
    expect(await fixture.read(pair.treasury.id)).toMatchObject({
      threshold: 2,
      limits: [{ token: 'USDC', amount: '1' }],
    });
  });

  it('that would lock the treasury is refused', async () => {
    await refusal(fixture.changePolicy(two, { threshold: 4 }), 'invalid_treasury_policy');
    await refusal(fixture.changePolicy(two, { signers: [{ name: 'x', publicKey: '0x5' }] }), 'invalid_treasury_policy');
    const twice = [first(), first()].map(({ publicKey }) => ({ name: 'x', publicKey }));
    await refusal(fixture.changePolicy(two, { signers: twice }), 'invalid_treasury_policy');
  });

  it('with a limit lets one signer pay up to it, and the chain counts', async () => {
    const limits = [{ token: 'USDC', threshold: 1, amount: '0.0001', windowSeconds: 86_400 }];
    const limited = await fixture.treasury(signersOf(2), 2, limits);
    const [small, same, large] = [
      await fixture.payment(limited, 60),
      await fixture.payment(limited, 60),
      await fixture.payment(limited, 101),
    ];
    const [signer] = limited.signers as [TestSigner, TestSigner];
    expect(large.requiredSignatures).toBe(2);
    expect(await fixture.sign(limited, small, signer)).toMatchObject({ state: 'READY', requiredSignatures: 1 });
    await fixture.sign(limited, same, signer);
    await fixture.execute(small);
    await fixture.finish();
    expect(await refusal(fixture.execute(same), 'transaction_reverted')).toContain('Treasury: exceeds limit');
    await fixture.sign(limited, same, limited.signers[1] as TestSigner);
    await fixture.execute(same);
    await fixture.finish();
    expect([await fixture.balance(small.to), await fixture.balance(same.to)]).toEqual([60n, 60n]);
  });
});

describe('what a proposal may call', () => {
  it('is not the policy of the treasury itself', async () => {
    const calls = [{ contractAddress: two.treasury.address, entrypoint: 'set_signers', calldata: ['0x0', '0x0'] }];
    await refusal(fixture.propose(two, { calls }), 'invalid_request');
    await refusal(fixture.propose(two, {}), 'invalid_request');
  });
});

describe('the states', () => {
  it('lead from every end nowhere but to what a relay says', () => {
    expect(nextStates.CANCELLED).toEqual([]);
    expect(nextStates.EXPIRED).toEqual([]);
    expect(nextStates.PENDING).not.toContain('EXECUTING');
  });

  it('EXECUTING and after are those with a relay, which the database holds', async () => {
    const proposal = await fixture.payment(two);
    const wrong = fixture.db.run(sql`update treasury_proposals set state = 'EXECUTING' where id = ${proposal.id}`);
    await expect(wrong).rejects.toThrow('check');
  });
});
