import { encodeAddOrUpdateSessionKey, encodeSetSpendingPolicy, toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relayer } from '../../testing/chain.ts';
import {
  type CallText,
  environment,
  stranger,
  TransactionFixture,
  transferOf,
  USDC,
} from '../../testing/transactions.ts';
import { Owner, refusal } from '../../testing/wallets.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import { createRelayerSponsor } from '../relayer/relayer-sponsor.ts';
import { processAccount } from '../relayer/worker/worker.ts';
import { relayOutcomes } from '../wallets/module.ts';
import { executeSponsored } from './execute.ts';
import { chainStatus } from './get-transaction.ts';
import { transactionOutcomes } from './relay-outcome.ts';

const payer = relayer(4);
const clock = { aheadMs: 0 };
const now = () => Date.now() + clock.aheadMs;
const log = { info() {}, warn() {}, error() {} };

let fixture: TransactionFixture;
beforeAll(async () => {
  fixture = await TransactionFixture.start();
});
afterAll(() => fixture.stop());

const relayerDeps = () => ({
  db: fixture.db,
  networks: fixture.networks,
  crypto: fixture.crypto,
  keys: () => [payer],
  now,
});
/** One look of the relayer at what is under way. */
const look = () => {
  const nothing = async () => {};
  const others = { sweep: nothing, payout: nothing, burn: nothing, refund: nothing };
  const treasuries = { treasury: nothing, 'treasury-deployment': nothing };
  const outcomes = { ...relayOutcomes(), ...transactionOutcomes(), ...others, ...treasuries };
  return processAccount({ ...relayerDeps(), outcomes, log }, environment, padAddress(payer.address));
};
/** The service's own sponsor, whose waiting is a look of the relayer. */
const sponsor = () =>
  createRelayerSponsor({
    ...relayerDeps(),
    pause: async (ms) => {
      clock.aheadMs += ms;
      await look();
    },
  });

async function execute(owner: Owner, calls: readonly CallText[], session?: { key: Owner; validUntil: bigint }) {
  const body = await fixture.signed(owner, calls);
  const [r = '', s = ''] = (session?.key ?? owner).signatureOf(body.typedData, owner.address);
  const userSignature = session ? [toHex(session.key.key), r, s, toHex(session.validUntil)] : [r, s];
  return executeSponsored({ ...fixture, sponsor: sponsor() }, fixture.caller(), { ...body, userSignature });
}

describe('calls that the service’s own accounts relay', () => {
  it('are pending until the relayer sees them in a block, and then have its number and time', async () => {
    const ana = await fixture.funded('ana');
    const to = stranger();
    const { transactionHash } = await execute(ana, [transferOf(to, 5)]);
    expect(await fixture.statuses(transactionHash)).toEqual(['PENDING']);
    await look();
    const receipt = await fixture.chain.receipt(BigInt(transactionHash));
    const block = await fixture.chain.block(receipt?.blockNumber ?? -1);
    expect(await fixture.records(transactionHash)).toMatchObject([
      { status: 'SUCCESS', blockNumber: block?.number, confirmedAt: block?.timestamp, destinationAddress: to },
    ]);
  });

  it('are executed once although the node took them and never answered', async () => {
    const ana = await fixture.funded('ana');
    const to = stranger();
    await fixture.sandbox.post('/starknet/faults', { kind: 'lose-answer' });
    const { transactionHash } = await execute(ana, [transferOf(to, 6)]);
    await look();
    expect(await fixture.chain.balanceOf(BigInt(USDC), BigInt(to))).toBe(6n);
    expect(await fixture.statuses(transactionHash)).toEqual(['SUCCESS']);
  });

  it('are failures when they revert on the chain although they were expected to succeed', async () => {
    const ana = await fixture.funded('ana');
    await fixture.sandbox.post('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const { transactionHash } = await execute(ana, [transferOf(stranger(), 7)]);
    await look();
    expect(await fixture.statuses(transactionHash)).toEqual(['FAILED']);
    const deps = { reads: fixture.db.reads, networks: fixture.networks };
    expect(await chainStatus(deps, fixture.caller(), transactionHash)).toMatchObject({ status: 'REVERTED' });
  });

  it('of a session are held to its policy, with the contract’s own reason', async () => {
    const [ana, key] = [await fixture.funded('ana'), new Owner()];
    const validUntil = BigInt(Math.floor(Date.now() / 1_000) + 3_600);
    const session = { sessionKey: key.key, validUntil, maxCalls: 5n, allowedEntrypoints: [] };
    const policy = { sessionKey: key.key, token: BigInt(USDC), maxPerCall: 10n, maxPerWindow: 20n, windowSeconds: 60n };
    const self = (entrypoint: string, calldata: bigint[]): CallText => {
      return { contractAddress: ana.address, entrypoint, calldata: calldata.map(toHex) };
    };
    await execute(ana, [
      self('add_or_update_session_key', encodeAddOrUpdateSessionKey(session)),
      self('set_spending_policy', encodeSetSpendingPolicy(policy)),
    ]);
    const { transactionHash } = await execute(ana, [transferOf(stranger(), 10)], { key, validUntil });
    await look();
    expect(await fixture.records(transactionHash)).toMatchObject([{ status: 'SUCCESS', subType: 'SESSION' }]);
    const over = execute(ana, [transferOf(stranger(), 11)], { key, validUntil });
    expect(await refusal(over, 'transaction_reverted')).toContain('Spending: exceeds per-call');
  });
});
