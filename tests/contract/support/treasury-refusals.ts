import type { TreasuryProposal } from '@svc/protocol';
import { Owner } from '../../support/app.ts';
import { send } from '../../support/client.ts';
import { USDC } from '../../support/starknet-client.ts';
import { pathOf, propose, signAs } from '../../support/treasuries.ts';
import {
  type MakeRefusal,
  type RefusalContext,
  type Refusals,
  type RefusalsOf,
  UNAVAILABLE,
  WOULD_REVERT,
  withBody,
  withParams,
} from './refusal.ts';

const calls = [{ contractAddress: USDC, entrypoint: 'approve', calldata: ['0xb0b', '1', '0'] }];
const unsupported = [{ token: 'OTHER', threshold: 1, amount: '1', windowSeconds: 60 }];
const noKey = [{ name: 'x', publicKey: '0x5' }];

const unknownTreasury: Refusals = { treasury_not_found: withParams({ id: 'trs_nothing' }) };
const unknownProposal: Refusals = {
  treasury_not_found: withParams({ id: 'trs_nothing', proposalId: 'tpr_nothing' }),
  proposal_not_found: ({ data }) => ({ params: { id: data.treasuries.treasury.id, proposalId: 'tpr_nothing' } }),
};

const place = ({ treasuryId, id }: TreasuryProposal) => ({ params: { id: treasuryId, proposalId: id } });

const pending = ({ data: { app, treasuries } }: RefusalContext) => propose(app, treasuries.treasury, { calls });

async function ready(context: RefusalContext): Promise<TreasuryProposal> {
  const { app, treasuries } = context.data;
  const proposal = await pending(context);
  await signAs(app, treasuries.treasury, proposal, treasuries.signer);
  return proposal;
}

async function cancelled(context: RefusalContext): Promise<TreasuryProposal> {
  const proposal = await pending(context);
  await context.data.app.post(`${pathOf(proposal)}/cancel`, {});
  return proposal;
}

/** A new one that is ready, while the chain has a fault. */
const readyWhile =
  (fault: object): MakeRefusal =>
  async (context) => {
    const proposal = await ready(context);
    await context.data.sandbox.orderFault({ ...fault });
    return place(proposal);
  };

/** Its proposal is to approve, which is on the list or is not. */
const ofThrifty =
  (...allowedEntrypoints: string[]): MakeRefusal =>
  async ({ data, thrifty: { headers, treasury } }) => {
    const body = { allowedEntrypoints };
    await send(`${data.app.baseUrl}/organization/sponsorship`, { method: 'PATCH', headers, body });
    return { headers, params: treasury };
  };

export const treasuryRefusals: RefusalsOf = {
  createTreasury: {
    invalid_treasury_policy: withBody({ signers: noKey }),
    token_not_supported: withBody({ limits: unsupported }),
    transaction_reverted: async ({ data }) => {
      await data.sandbox.orderFault({ ...WOULD_REVERT });
      return {};
    },
    sponsorship_limit_reached: ({ thrifty }) => ({ headers: thrifty.headers }),
  },
  getTreasury: unknownTreasury,
  getTreasuryPolicy: unknownTreasury,
  changeTreasuryPolicy: {
    ...unknownTreasury,
    invalid_treasury_policy: () => ({ body: { signers: noKey } }),
    token_not_supported: () => ({ body: { limits: unsupported } }),
  },
  createTreasuryProposal: {
    ...unknownTreasury,
    token_not_supported: () => ({ body: { transfers: [{ token: 'OTHER', recipient: '0xb0b', amount: '1' }] } }),
    sponsorship_not_allowed: ({ thrifty: { headers, treasury } }) => ({
      headers,
      params: { id: treasury.id },
      body: { calls },
    }),
    proposal_not_found: () => ({ body: { calls, replaces: 'tpr_nothing' } }),
    proposal_not_open: async (context) => ({ body: { calls, replaces: (await cancelled(context)).id } }),
  },
  listTreasuryProposals: unknownTreasury,
  getTreasuryProposal: unknownProposal,
  signTreasuryProposal: {
    ...unknownProposal,
    invalid_signature: withBody({ signature: ['0x1', '0x2'] }),
    not_a_signer: withBody({ publicKey: new Owner().publicKey }),
    proposal_not_open: async (context) => place(await cancelled(context)),
  },
  executeTreasuryProposal: {
    ...unknownProposal,
    proposal_not_ready: async (context) => place(await pending(context)),
    proposal_not_open: async (context) => place(await cancelled(context)),
    transaction_reverted: readyWhile(WOULD_REVERT),
    chain_unavailable: readyWhile(UNAVAILABLE),
    sponsorship_not_allowed: ofThrifty('transfer'),
    sponsorship_limit_reached: ofThrifty('transfer', 'approve'),
  },
  cancelTreasuryProposal: {
    ...unknownProposal,
    proposal_not_open: async (context) => {
      const proposal = await ready(context);
      await context.data.app.post(`${pathOf(proposal)}/execute`, {});
      return place(proposal);
    },
  },
};
