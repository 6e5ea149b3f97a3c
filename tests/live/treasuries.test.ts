import type { Treasury, TreasuryProposal } from '@svc/protocol';
import { classes } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, Owner } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { newTreasury, pathOf, propose, signAs } from '../support/treasuries.ts';
import { blockModes } from './support/devnet.ts';
import { LiveService } from './support/live-service.ts';

describe.each(blockModes)('with %s', (_, blocks) => {
  let live: LiveService;
  beforeAll(async () => {
    live = await LiveService.start(blocks);
  });
  afterAll(() => live?.stop());

  const signers = [new Owner(), new Owner(), new Owner()] as const;
  const executed = async (proposal: TreasuryProposal) => {
    bodyOf(await live.app.post(`${pathOf(proposal)}/execute`, {}), 200);
    return eventually(
      async () => bodyOf<TreasuryProposal>(await live.app.get(pathOf(proposal)), 200),
      ({ state }) => state === 'EXECUTED' || state === 'FAILED',
    );
  };

  it('a treasury is deployed with the committed class, pays once two of three have signed, and changes its signers', async () => {
    const treasury = await newTreasury(live.app, { signers, threshold: 2 });
    expect(await live.classAt(treasury.address)).toBe(classes.treasury);
    await live.devnet.faucet(treasury.address, 'USDC', '10');
    const recipient = live.newRecipient();
    const proposal = await propose(live.app, treasury, { transfers: [{ token: 'USDC', recipient, amount: '2.5' }] });
    bodyOf(await signAs(live.app, treasury, proposal, signers[0]), 200);
    expect(await live.app.post(`${pathOf(proposal)}/execute`, {})).toMatchObject({ status: 400 });
    bodyOf(await signAs(live.app, treasury, proposal, signers[2]), 200);
    expect(await executed(proposal)).toMatchObject({ state: 'EXECUTED' });
    expect(await live.app.balance(recipient, 'USDC')).toBe(2_500_000n);
    expect(await live.app.balance(treasury.address, 'USDC')).toBe(7_500_000n);
    const named = [signers[1], signers[2]].map(({ publicKey }) => ({ name: 'Signer', publicKey }));
    const change = bodyOf<TreasuryProposal>(
      await live.app.patch(`/treasuries/${treasury.id}/policy`, { signers: named }),
      201,
    );
    for (const signer of signers.slice(0, 2)) bodyOf(await signAs(live.app, treasury, change, signer), 200);
    expect(await executed(change)).toMatchObject({ state: 'EXECUTED' });
    const { signers: now } = bodyOf<Treasury>(await live.app.get(`/treasuries/${treasury.id}`), 200);
    expect(now.map(({ publicKey }) => BigInt(publicKey))).toEqual(named.map(({ publicKey }) => BigInt(publicKey)));
  });

  it('a limit lets one signer pay up to it, and no further', async () => {
    const limits = [{ token: 'USDC', threshold: 1, amount: '1', windowSeconds: 3_600 }];
    const treasury = await newTreasury(live.app, { signers, threshold: 2, limits });
    await live.devnet.faucet(treasury.address, 'USDC', '10');
    const recipient = live.newRecipient();
    const small = await propose(live.app, treasury, { transfers: [{ token: 'USDC', recipient, amount: '1' }] });
    bodyOf(await signAs(live.app, treasury, small, signers[1]), 200);
    expect(await executed(small)).toMatchObject({ state: 'EXECUTED' });
    expect(await live.app.balance(recipient, 'USDC')).toBe(1_000_000n);
    const large = await propose(live.app, treasury, { transfers: [{ token: 'USDC', recipient, amount: '1.01' }] });
    expect(bodyOf(await signAs(live.app, treasury, large, signers[1]), 200)).toMatchObject({ state: 'PENDING' });
  });
});
