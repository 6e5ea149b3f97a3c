import type { Treasury, TreasuryProposal } from '@svc/protocol';
import { createSvc } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, bodyOf, type Organization, Owner } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { newTreasury, pathOf, propose, signAs } from '../support/treasuries.ts';

let service: AnyService;
let app: Organization;
let treasury: Treasury;
const signers = [new Owner(), new Owner(), new Owner()] as const;
const recipient = '0xb0b5';

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.organization();
  treasury = await newTreasury(app, { signers, threshold: 2 });
  await service.sandbox.faucet(treasury.address, 'USDC', '10');
});
afterAll(() => service.stop());

const transfers = [{ token: 'USDC', recipient, amount: '2.5' }];
const read = async (proposal: TreasuryProposal) => bodyOf<TreasuryProposal>(await app.get(pathOf(proposal)), 200);

describe('a treasury of two of three signers', () => {
  it('pays once two have signed, and its events lead to the receipt', async () => {
    const proposal = await propose(app, treasury, { transfers, description: 'Renta' });
    await signAs(app, treasury, proposal, signers[0]);
    expect(await app.post(`${pathOf(proposal)}/execute`, {})).toMatchObject({
      status: 400,
      body: { error: 'proposal_not_ready' },
    });
    const before = await app.balance(recipient, 'USDC');
    const ready = await signAs(app, treasury, proposal, signers[2]);
    expect(bodyOf<TreasuryProposal>(ready, 200)).toMatchObject({ state: 'READY' });
    bodyOf(await app.post(`${pathOf(proposal)}/execute`, {}), 200);
    const { executedTxHash } = await eventually(
      () => read(proposal),
      ({ state }) => state === 'EXECUTED',
    );
    expect((await app.balance(recipient, 'USDC')) - before).toBe(2_500_000n);
    const events = bodyOf<{ data: { data: Record<string, unknown> }[] }>(
      await app.get('/organization/events?type=treasury.proposal.executed'),
      200,
    );
    expect(events.data[0]?.data).toMatchObject({
      treasuryId: treasury.id,
      proposalId: proposal.id,
      executedTxHash,
    });
    expect(JSON.stringify(events.data[0])).not.toContain('typedData');
    expect(await app.get(`/transactions/${executedTxHash}/status`)).toMatchObject({ status: 200 });
  });

  it('takes signatures with the public key alone, and shows none of them', async () => {
    const proposal = await propose(app, treasury, { transfers });
    const publicKey = (app.headers as Record<string, string>)['x-api-key'] ?? '';
    const anyone = new App(service.server, { 'x-api-key': publicKey });
    expect(await anyone.post(`${pathOf(proposal)}/execute`, {})).toMatchObject({ status: 401 });
    bodyOf(await signAs(anyone, treasury, proposal, signers[1]), 200);
    const shown = await read(proposal);
    expect(shown.signatures).toEqual([
      { publicKey: expect.any(String), name: 'Signer 2', signedAt: expect.any(String) },
    ]);
    expect(JSON.stringify(shown.signatures)).not.toMatch(/"r"|"s"/);
  });

  it('is missing for another organisation', async () => {
    const other = await service.organization();
    const proposal = await propose(app, treasury, { transfers });
    for (const path of [`/treasuries/${treasury.id}`, `/treasuries/${treasury.id}/policy`, pathOf(proposal)]) {
      expect(await other.get(path)).toMatchObject({ status: 404, body: { error: 'treasury_not_found' } });
    }
    expect(await signAs(other, treasury, proposal, signers[0])).toMatchObject({ status: 404 });
    expect(await other.post(`${pathOf(proposal)}/cancel`, {})).toMatchObject({ status: 404 });
    expect(await read(proposal)).toMatchObject({ state: 'PENDING', signatures: [] });
  });

  it('created twice with one Idempotency-Key is one', async () => {
    const body = { name: 'Una', signers: [{ name: 'Ana', publicKey: signers[0].publicKey }], threshold: 1 };
    const once = () => app.post('/treasuries', body, { 'idempotency-key': 'one treasury' });
    const [first, second] = [bodyOf<Treasury>(await once(), 201), bodyOf<Treasury>(await once(), 201)];
    expect(second.id).toBe(first.id);
  });

  it('refills the manager by the key of a job up to its limit, and beyond it with a person', async () => {
    const [job, ana] = [new Owner(), new Owner()];
    const limits = [{ token: 'USDC', threshold: 1, amount: '3', windowSeconds: 86_400 }];
    const behind = await newTreasury(app, { signers: [job, ana], threshold: 2, limits });
    await service.sandbox.faucet(behind.address, 'USDC', '10');
    const { address: managerAddress } = await service.sandbox.account('manager');
    const { baseUrl } = service.server.credentials;
    const svc = createSvc({ baseUrl, ...app.keys });
    const refill = async (amount: string, ...signers: Owner[]) => {
      const asked = {
        treasuryId: behind.id,
        transfers: [{ token: 'USDC' as const, recipient: managerAddress, amount }],
      };
      const proposal = await svc.treasuries.createTreasuryProposal({ ...asked, description: 'Payouts of today' });
      for (const { privateKey } of signers) {
        const signing = { treasuryAddress: behind.address, proposal, calls: proposal.calls, privateKey };
        await svc.treasuries.signTreasuryProposal(signing);
      }
      await svc.treasuries.executeTreasuryProposal({ treasuryId: behind.id, proposalId: proposal.id });
      return eventually(
        () => read(proposal),
        ({ state }) => state === 'EXECUTED',
      );
    };
    await refill('2', job);
    await expect(refill('2', job)).rejects.toMatchObject({ code: 'transaction_reverted' });
    await expect(refill('4', job)).rejects.toMatchObject({ code: 'proposal_not_ready' });
    await refill('4', job, ana);
    expect(await app.balance(behind.address, 'USDC')).toBe(4_000_000n);
  });

  it('refuses terms that would lock it, and stores nothing', async () => {
    const named = [{ name: 'Ana', publicKey: '0x5' }];
    const refused = await app.post('/treasuries', { name: 'x', signers: named, threshold: 1 });
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_treasury_policy' } });
  });
});
