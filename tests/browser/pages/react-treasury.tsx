import {
  skipToken,
  useCancelTreasuryProposal,
  useExecuteTreasuryProposal,
  useProposeTreasuryTransaction,
  useSignTreasuryProposal,
  useTreasuries,
  useTreasury,
  useTreasuryProposal,
  useTreasuryProposals,
} from '@svc/react';
import type { ReactNode } from 'react';

interface Props {
  readonly treasuryId: string;
  readonly recipient: string;
  readonly privateKey: string;
  readonly show: (name: string, value: unknown) => ReactNode;
}

/** The hooks for an organisation's staff. */
export function Treasury({ treasuryId, recipient, privateKey, show }: Props) {
  const [treasuries, treasury] = [useTreasuries(), useTreasury({ id: treasuryId })];
  const proposals = useTreasuryProposals({ treasuryId });
  const [propose, sign] = [useProposeTreasuryTransaction(), useSignTreasuryProposal()];
  const [execute, cancel] = [useExecuteTreasuryProposal(), useCancelTreasuryProposal()];
  const place = propose.data && { treasuryId, proposalId: propose.data.id };
  const { data: proposal } = useTreasuryProposal(place ?? skipToken);
  const treasuryAddress = treasury.data?.address ?? '';
  const failed = [treasuries, treasury, proposals, propose, sign, execute, cancel]
    .map(({ error }) => error?.message ?? '')
    .join('');
  const steps: Record<string, () => void> = {
    Propose: () => propose.mutate({ treasuryId, transfers: [{ token: 'USDC', recipient, amount: '1.5' }] }),
    Sign: () => proposal && sign.mutate({ treasuryAddress, proposal, calls: proposal.calls, privateKey }),
    Execute: () => place && execute.mutate(place),
    Cancel: () => place && cancel.mutate(place),
  };
  return (
    <>
      {show('treasuries', failed || treasuries.data?.items.some(({ id }) => id === treasuryId))}
      {show('treasury', treasury.data?.name)}
      {show('proposals', proposals.data?.items.map(({ state }) => state).join())}
      {show('proposal', failed || proposal?.state)}
      {Object.entries(steps).map(([name, step]) => (
        <button key={name} type="button" onClick={step}>
          {name}
        </button>
      ))}
    </>
  );
}
