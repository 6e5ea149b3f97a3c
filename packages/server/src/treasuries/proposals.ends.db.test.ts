import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { signersOf, type TestSigner, type TestTreasury, TreasuryFixture } from '../../testing/treasuries.ts';
import { refusal } from '../../testing/wallets.ts';

let fixture: TreasuryFixture;
beforeAll(async () => {
  fixture = await TreasuryFixture.start();
});
afterAll(() => fixture.relayers.stop());

const EIGHT_DAYS = 8 * 86_400;
const first = ({ signers }: TestTreasury) => signers[0] as TestSigner;
const named = (signers: readonly TestSigner[]) => signers.map(({ publicKey }) => ({ name: 'Signer', publicKey }));

async function signed(owned: TestTreasury, units = 1) {
  const proposal = await fixture.payment(owned, units);
  await fixture.sign(owned, proposal, first(owned));
  return proposal;
}

describe('mail to signers', () => {
  const ana = () => `ana+${crypto.randomUUID()}@example.com`;
  /** Two signers share an address, one has none. */
  const withMail = (address: string) => fixture.treasury(signersOf(3), 1, [], [address, address, undefined]);

  it('tells each address once of a proposal and of its execution, however often the outcome is stored', async () => {
    const address = ana();
    const owned = await withMail(address);
    const proposal = await signed(owned);
    expect(await fixture.mails(proposal)).toEqual([[address, 'created']]);
    await fixture.execute(proposal);
    await fixture.finish();
    await fixture.relayers.reorganise(1, 'requeue');
    await fixture.finish();
    expect(await fixture.mails(proposal)).toEqual([
      [address, 'created'],
      [address, 'executed'],
    ]);
  });

  it('tells of a failure', async () => {
    const address = ana();
    const owned = await withMail(address);
    const silent = fixture.relayers.sponsorWith({}, { send: () => Promise.reject(new Error('killed')) });
    const all = [await signed(owned, 900_000), await signed(owned, 900_000)] as const;
    for (const proposal of all) await fixture.execute(proposal, silent).catch(() => undefined);
    await fixture.finish();
    expect(await fixture.mails(all[1])).toEqual([
      [address, 'created'],
      [address, 'failed'],
    ]);
  });

  it('tells once of one that has expired, however often the job runs', async () => {
    const address = ana();
    const owned = await withMail(address);
    const proposal = await signed(owned);
    await fixture.relayers.sandbox.travel(EIGHT_DAYS);
    await Promise.all([fixture.expire(), fixture.expire()]);
    await fixture.expire();
    expect(await fixture.mails(proposal)).toEqual([
      [address, 'created'],
      [address, 'expired'],
    ]);
  });

  it('is not sent where no signer has an address', async () => {
    const proposal = await signed(await fixture.treasury(signersOf(2), 1));
    await fixture.execute(proposal);
    await fixture.finish();
    expect(await fixture.mails(proposal)).toEqual([]);
  });
});

describe('a policy that a reorganisation takes back', () => {
  const changed = async () => {
    const owned = await fixture.treasury(signersOf(2), 1);
    const [kept] = owned.signers as [TestSigner, TestSigner];
    const change = await fixture.changePolicy(owned, { signers: named([kept]) });
    await fixture.sign(owned, change, kept);
    await fixture.execute(change);
    await fixture.finish();
    expect((await fixture.read(owned.treasury.id)).signers).toHaveLength(1);
    return { owned, change };
  };

  it('is in force again when the same transaction is included again, and told of once', async () => {
    const { owned, change } = await changed();
    await fixture.relayers.reorganise(1, 'drop');
    await fixture.finish();
    expect(await fixture.get(change)).toMatchObject({ state: 'EXECUTED' });
    expect((await fixture.read(owned.treasury.id)).signers).toHaveLength(1);
    expect(await fixture.events(change)).toEqual(['created', 'signed', 'executed']);
  });

  it('is undone when its time is over by then: the signers of before count again', async () => {
    const { owned, change } = await changed();
    const [kept, removed] = owned.signers as [TestSigner, TestSigner];
    await fixture.relayers.reorganise(1, 'drop');
    await fixture.relayers.sandbox.travel(EIGHT_DAYS);
    await fixture.finish();
    expect(await fixture.get(change)).toMatchObject({ state: 'FAILED', executedTxHash: null });
    const keys = (await fixture.read(owned.treasury.id)).signers.map(({ publicKey }) => publicKey);
    expect(keys).toEqual([kept.publicKey, removed.publicKey]);
    expect(await fixture.events(change)).toEqual(['created', 'signed', 'executed', 'failed']);
    const payment = await fixture.payment(owned, 4);
    await fixture.sign(owned, payment, removed);
    await fixture.execute(payment);
    await fixture.finish();
    expect(await fixture.balance(payment.to)).toBe(4n);
  });
});

describe('what is refused', () => {
  it('is a change of the policy while another one is under way', async () => {
    const owned = await fixture.treasury(signersOf(2), 2);
    const change = await fixture.changePolicy(owned, { threshold: 1 });
    for (const signer of owned.signers) await fixture.sign(owned, change, signer);
    const killed = fixture.relayers.sponsorWith({}, { send: () => Promise.reject(new Error('killed')) });
    await fixture.execute(change, killed).catch(() => undefined);
    const other = { signers: named(owned.signers.slice(0, 1)), threshold: 1 };
    await refusal(fixture.changePolicy(owned, other), 'proposal_not_open');
    await fixture.finish();
    expect(await fixture.get(change)).toMatchObject({ state: 'EXECUTED' });
    expect(await fixture.changePolicy(owned, other)).toMatchObject({ state: 'PENDING', requiredSignatures: 1 });
  });

  it('is the 201st proposal that is open, of payments and of the policy', async () => {
    const owned = await fixture.treasury(signersOf(1), 1);
    const { id } = await fixture.payment(owned);
    await fixture.db.run(sql`
      insert into treasury_proposals (id, treasury_id, kind, description, calls, nonce, execute_after, expires_at, message_hash,
                                      required_signatures, proposed_by, proposed_by_name)
      select id || '_' || number, treasury_id, kind, description, calls, '0x' || number, execute_after, expires_at, message_hash,
             required_signatures, proposed_by, proposed_by_name
        from treasury_proposals cross join generate_series(2, 200) as number where id = ${id}`);
    await refusal(fixture.payment(owned), 'proposal_limit_reached');
    const limits = [{ token: 'USDC' as const, threshold: 1, amount: '1', windowSeconds: 60 }];
    const wider = { signers: named(signersOf(2)), threshold: 2, limits };
    await refusal(fixture.changePolicy(owned, wider), 'proposal_limit_reached');
    await fixture.cancel(await fixture.get({ id, treasuryId: owned.treasury.id }));
    expect(await fixture.payment(owned)).toMatchObject({ state: 'PENDING' });
  });

  it('is the 501st treasury of an environment, without a relay', async () => {
    const { treasury } = await fixture.treasury(signersOf(1), 1);
    await fixture.db.run(sql`
      insert into treasuries (id, organization_id, environment, name, address, class_hash, salt, constructor_calldata, policy,
                              policy_nonce)
      select id || '_' || number, organization_id, environment, name, address || '_' || number, class_hash, salt,
             constructor_calldata, policy, policy_nonce
        from treasuries cross join generate_series(1, 500) as number where id = ${treasury.id}`);
    onTestFinished(() => fixture.db.run(sql`delete from treasuries where relay_id is null`).then(() => undefined));
    const before = await fixture.relayers.states();
    await refusal(fixture.treasury(signersOf(1), 1), 'treasury_limit_reached');
    expect(await fixture.relayers.states()).toEqual(before);
  });
});
