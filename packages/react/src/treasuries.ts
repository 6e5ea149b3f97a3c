'use client';
import {
  cancelTreasuryProposal,
  createTreasuryProposal,
  executeTreasuryProposal,
  signTreasuryProposal,
} from '@svc/sdk';
import { changeHook, readHook } from './factory.ts';
import { treasuriesOptions, treasuryOptions, treasuryProposalOptions, treasuryProposalsOptions } from './options.ts';

const PROPOSALS = { refreshes: ['treasuryProposal', 'treasuryProposals', 'treasury', 'treasuries'] } as const;

/**
 * Treasuries of the organisation. For its own staff: needs the secret key or a member's session.
 *
 * @example
 * const { data } = useTreasuries();
 */
export const useTreasuries = /* @__PURE__ */ readHook(treasuriesOptions);

/**
 * One treasury with its signers.
 *
 * @example
 * const { data: treasury } = useTreasury({ id });
 */
export const useTreasury = /* @__PURE__ */ readHook(treasuryOptions);

/**
 * Proposals of a treasury, newest first.
 *
 * @example
 * const { data } = useTreasuryProposals({ treasuryId, state: 'PENDING' });
 */
export const useTreasuryProposals = /* @__PURE__ */ readHook(treasuryProposalsOptions);

/**
 * A proposal. It is read again until it has ended. The public key is enough.
 *
 * @example
 * const { data: proposal } = useTreasuryProposal({ treasuryId, proposalId });
 */
export const useTreasuryProposal = /* @__PURE__ */ readHook(treasuryProposalOptions);

/**
 * Proposes transfers or calls.
 *
 * @example
 * const propose = useProposeTreasuryTransaction();
 * propose.mutate({ treasuryId, transfers: [{ token: 'USDC', recipient, amount: '250' }] });
 */
export const useProposeTreasuryTransaction = /* @__PURE__ */ changeHook(createTreasuryProposal, PROPOSALS);

/**
 * Signs a proposal, after its typed data was verified against the calls that were shown.
 *
 * @example
 * const sign = useSignTreasuryProposal();
 * sign.mutate({ treasuryAddress, proposal, calls: proposal.calls, privateKey });
 */
export const useSignTreasuryProposal = /* @__PURE__ */ changeHook(signTreasuryProposal, PROPOSALS);

/**
 * Executes a proposal that has enough signatures.
 *
 * @example
 * const execute = useExecuteTreasuryProposal();
 * execute.mutate({ treasuryId, proposalId });
 */
export const useExecuteTreasuryProposal = /* @__PURE__ */ changeHook(executeTreasuryProposal, PROPOSALS);

/**
 * Cancels a proposal that is not under way.
 *
 * @example
 * const cancel = useCancelTreasuryProposal();
 * cancel.mutate({ treasuryId, proposalId });
 */
export const useCancelTreasuryProposal = /* @__PURE__ */ changeHook(cancelTreasuryProposal, PROPOSALS);
