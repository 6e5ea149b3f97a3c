import type { Treasury, TreasuryProposal } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, Owner } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { TestService } from '../support/service.ts';
import { pathOf, propose, signAs } from '../support/treasuries.ts';

const EIGHT_DAYS = 8 * 86_400;
const LIMIT_MS = 300_000;
const WAIT_MS = 120_000;

/** A service of its own: its chain reverts a transaction, and its time passes. */
let service: TestService;
beforeAll(async () => {
  service = await TestService.hosted();
}, LIMIT_MS);
afterAll(() => service?.stop());

interface Mail {
  readonly id: number;
  readonly subject: string;
  readonly text: string;
}

async function mailsTo(address: string): Promise<Mail[]> {
  const { mails } = await service.sandbox.ask<{ mails: Mail[] }>(`/mailbox?to=${encodeURIComponent(address)}`);
  return Promise.all(mails.map(({ id }) => service.sandbox.ask<Mail>(`/mailbox/${id}`)));
}

/** One signer with an address signs; the other has none. */
async function newTreasury() {
  const [ana, luis] = [new Owner(), new Owner()];
  const email = `ana+${crypto.randomUUID()}@example.com`;
  const signers = [
    { name: 'Ana', publicKey: ana.publicKey, email },
    { name: 'Luis', publicKey: luis.publicKey },
  ];
  const created = await service.app.post('/treasuries', { name: 'Caja chica', signers, threshold: 1 });
  const { id } = bodyOf<Treasury>(created, 201);
  const read = async () => bodyOf<Treasury>(await service.app.get(`/treasuries/${id}`), 200);
  const treasury = await eventually(read, ({ isDeployed }) => isDeployed, WAIT_MS);
  await service.sandbox.faucet(treasury.address, 'USDC', '10');
  return { treasury, ana, email };
}

const transfers = [{ token: 'USDC', recipient: '0xb0b', amount: '1' }];

function ended(proposal: TreasuryProposal, end: TreasuryProposal['state']) {
  const read = async () => bodyOf<TreasuryProposal>(await service.app.get(pathOf(proposal)), 200);
  return eventually(read, ({ state }) => state === end, WAIT_MS);
}

/** What the signer was told of the proposal, which both halves of each mail link to. */
async function told(email: string, proposal: TreasuryProposal, count: number): Promise<string[]> {
  const own = async () => (await mailsTo(email)).filter(({ text }) => text.includes(proposal.id));
  const mails = await eventually(own, ({ length }) => length >= count, WAIT_MS);
  for (const { text } of mails) expect(text.split(`/${proposal.treasuryId}/${proposal.id}`)).toHaveLength(3);
  return mails.map(({ subject }) => subject).sort();
}

describe('signers with an address get mail in both languages, once each', () => {
  it(
    'of a proposal and of its execution, failure or expiry',
    async () => {
      await service.sandbox.ask('/starknet/faults', undefined, 'DELETE');
      const { treasury, ana, email } = await newTreasury();
      const [paid, reverted, forgotten] = [
        await propose(service.app, treasury, { transfers, description: 'Renta' }),
        await propose(service.app, treasury, { transfers }),
        await propose(service.app, treasury, { transfers }),
      ];
      for (const proposal of [paid, reverted]) {
        bodyOf(await signAs(service.app, treasury, proposal, ana), 200);
        if (proposal === reverted) await service.sandbox.orderFault({ kind: 'revert', reason: 'out of luck' });
        bodyOf(await service.app.post(`${pathOf(proposal)}/execute`, {}), 200);
        await ended(proposal, proposal === reverted ? 'FAILED' : 'EXECUTED');
      }
      await service.sandbox.ask('/starknet/time', { increaseSeconds: EIGHT_DAYS });
      await ended(forgotten, 'EXPIRED');

      const created = 'Hay una propuesta por firmar: Caja chica / A proposal waits for your signature';
      expect(await told(email, paid, 2)).toEqual([
        created,
        'Una propuesta fue ejecutada: Caja chica / A proposal was executed',
      ]);
      expect(await told(email, reverted, 2)).toEqual([created, 'Una propuesta falló: Caja chica / A proposal failed']);
      expect(await told(email, forgotten, 2)).toEqual([
        created,
        'Una propuesta venció: Caja chica / A proposal has expired',
      ]);
      const all = await mailsTo(email);
      expect(all).toHaveLength(6);
      expect(all.filter(({ text }) => text.includes('Renta'))).toHaveLength(2);
      expect(all.filter(({ text }) => text.includes('out of luck'))).toHaveLength(1);
      const { mails } = await service.sandbox.ask<{ mails: { to: string }[] }>('/mailbox');
      expect(mails.filter(({ to }) => !to.includes('ana+'))).toEqual([]);
    },
    LIMIT_MS,
  );
});
