import type { Module } from '../http/module.ts';
import {
  cancelProposal,
  type ExpiryDeps,
  executeProposal,
  expiryJobs,
  getProposal,
  listProposals,
  signProposal,
} from './proposals.ts';
import { changePolicy, createProposal } from './propose.ts';
import {
  createTreasury,
  getPolicy,
  listTreasuries,
  requireTreasury,
  type TreasuryDeps,
  toTreasury,
} from './treasury.ts';

type TreasuryOperation =
  | 'createTreasury'
  | 'listTreasuries'
  | 'getTreasury'
  | 'getTreasuryPolicy'
  | 'changeTreasuryPolicy'
  | 'createTreasuryProposal'
  | 'listTreasuryProposals'
  | 'getTreasuryProposal'
  | 'signTreasuryProposal'
  | 'executeTreasuryProposal'
  | 'cancelTreasuryProposal';

export function create(deps: TreasuryDeps & ExpiryDeps): Module<TreasuryOperation> {
  return {
    handlers: {
      createTreasury: (call) => createTreasury(deps, call),
      listTreasuries: ({ caller, query }) => listTreasuries(deps, caller, query),
      getTreasury: async ({ caller, params }) =>
        toTreasury(deps.networks, await requireTreasury(deps.db.reads, caller, params.id)),
      getTreasuryPolicy: ({ caller, params }) => getPolicy(deps, caller, params.id),
      changeTreasuryPolicy: (call) => changePolicy(deps, call),
      createTreasuryProposal: (call) => createProposal(deps, call),
      listTreasuryProposals: ({ caller, params, query }) => listProposals(deps, caller, params.id, query),
      getTreasuryProposal: ({ caller, params }) => getProposal(deps, caller, params),
      signTreasuryProposal: ({ caller, params, body }) => signProposal(deps, caller, params, body),
      executeTreasuryProposal: ({ caller, params }) => executeProposal(deps, caller, params),
      cancelTreasuryProposal: (call) => cancelProposal(deps, call),
    },
    jobs: [expiryJobs(deps)],
  };
}

export { treasuryOutcomes as relayOutcomes } from './proposals.ts';
