import type { ProposalState, Treasury, TreasuryProposal } from '@svc/protocol';
import type { DescribedCall } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Card, DescriptionList, ErrorNote, Note, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Hash, Time } from '../../ui/values.tsx';
import { useChange, useRead } from '../api.ts';
import { useEnvironment } from '../environment.ts';
import { useParam } from '../navigation.ts';
import { useSession } from '../session.tsx';
import { type OpenedKey, sessionSvc, toFailure, UnlockDialog } from '../signing-key.tsx';
import { words } from '../words/treasuries.ts';
import { useWords } from '../words.ts';

const READ = 'GET /treasuries/{id}/transactions/{proposalId}';
const LIVE_MS = 2_000;

export default function TreasuryProposalPage() {
  const text = useWords(words);
  const [id, proposalId] = [useParam('id'), useParam('proposalId')];
  const treasury = useRead('GET /treasuries/{id}', { params: { id } });
  const proposal = useRead(READ, { params: { id, proposalId } }, { every: LIVE_MS });
  const parents = [
    { label: text.title, to: '/treasuries' },
    { label: treasury.data?.name ?? id, to: `/treasuries/${id}` },
  ];
  const error = treasury.error ?? proposal.error;
  if (treasury.data && proposal.data) {
    return <ProposalView treasury={treasury.data} proposal={proposal.data} parents={parents} />;
  }
  return (
    <div className="stack">
      <PageHeader title={text.proposal} parents={parents} />
      {error ? <ErrorNote error={error} retry={() => void proposal.refetch()} /> : <Skeleton lines={8} />}
    </div>
  );
}

export function ProposalBadge({ state }: { state: ProposalState }) {
  const tone = { READY: 'good', EXECUTING: 'info', EXECUTED: 'good' } as const;
  return state in tone ? (
    <StatusBadge status={state} tone={tone[state as keyof typeof tone]} />
  ) : (
    <StatusBadge status={state} />
  );
}

interface ViewProps {
  treasury: Treasury;
  proposal: TreasuryProposal;
  parents: { label: string; to: string }[];
}

function ProposalView({ treasury, proposal, parents }: ViewProps) {
  const text = useWords(words);
  return (
    <div className="stack">
      <PageHeader
        title={proposal.description || text.proposal}
        parents={parents}
        badge={<ProposalBadge state={proposal.state} />}
        actions={<Actions treasury={treasury} proposal={proposal} />}
      />
      {proposal.failureReason !== null && (
        <Note tone="bad">
          <p>
            <strong>{text.failure}:</strong> {proposal.failureReason}
          </p>
        </Note>
      )}
      <Calls treasury={treasury} proposal={proposal} />
      <Signatures treasury={treasury} proposal={proposal} />
      <Card>
        <DescriptionList columns={2} rows={factsOf(text, proposal)} />
      </Card>
    </div>
  );
}

type Text = ReturnType<typeof useWords<(typeof words)['en']>>;

function factsOf(text: Text, proposal: TreasuryProposal): [string, ReactNode][] {
  const hash = proposal.executedTxHash ?? proposal.transactionHash;
  return [
    [text.proposedBy, proposal.proposedBy],
    [text.created, <Time key="created" value={proposal.createdAt} exact />],
    [text.expires, <Time key="expires" value={proposal.expiresAt} exact />],
    [text.transaction, hash === null ? undefined : <Hash key="hash" value={hash} label={text.transaction} />],
    [text.replacedBy, proposal.replacedBy ?? undefined],
  ];
}

const isOpen = ({ state }: TreasuryProposal) => state === 'PENDING' || state === 'READY';

function Actions({ treasury, proposal }: Omit<ViewProps, 'parents'>) {
  const text = useWords(words);
  const show = useToast();
  const { can } = useSession();
  const [dialog, setDialog] = useState<'sign' | 'execute' | 'cancel'>();
  const params = { id: treasury.id, proposalId: proposal.id };
  const refreshes = [READ, 'GET /treasuries/{id}/transactions'] as const;
  const sign = useChange('POST /treasuries/{id}/transactions/{proposalId}/sign', { refreshes: [...refreshes] });
  const execute = useChange('POST /treasuries/{id}/transactions/{proposalId}/execute', { refreshes: [...refreshes] });
  const cancel = useChange('POST /treasuries/{id}/transactions/{proposalId}/cancel', { refreshes: [...refreshes] });
  if (!isOpen(proposal)) return null;
  const close = () => setDialog(undefined);
  const signWith = async (key: OpenedKey) => {
    const svc = await sessionSvc();
    const { publicKey, signature } = await svc.treasuries.signProposalOffline({
      ...key,
      treasuryAddress: treasury.address,
      proposal,
      calls: proposal.calls,
    });
    if (!treasury.signers.some((signer) => BigInt(signer.publicKey) === BigInt(publicKey))) {
      throw new Error(text.wrongKey);
    }
    await sign.mutateAsync({ params, body: { publicKey, signature: [...signature] } });
    show.done(text.signed);
  };
  return (
    <>
      {can('DEVELOPER') && (
        <Button kind="quiet" onClick={() => setDialog('cancel')}>
          {text.cancel}
        </Button>
      )}
      <Button kind={proposal.state === 'READY' ? 'plain' : 'primary'} onClick={() => setDialog('sign')}>
        {text.sign}
      </Button>
      {proposal.state === 'READY' && can('DEVELOPER') && (
        <Button kind="primary" onClick={() => setDialog('execute')}>
          {text.execute}
        </Button>
      )}
      <UnlockDialog open={dialog === 'sign'} onClose={close} title={text.sign} onOpened={signWith} />
      <ConfirmDialog
        open={dialog === 'execute'}
        onClose={close}
        title={text.execute}
        action={text.execute}
        kind="primary"
        onConfirm={async () => {
          await execute.mutateAsync({ params });
          show.done(text.executed);
        }}
      >
        <p>{text.executeNote}</p>
      </ConfirmDialog>
      <ConfirmDialog
        open={dialog === 'cancel'}
        onClose={close}
        title={text.cancel}
        action={text.cancel}
        onConfirm={() => cancel.mutateAsync({ params })}
      >
        <p>{text.cancelNote}</p>
      </ConfirmDialog>
    </>
  );
}

function Calls({ treasury, proposal }: Omit<ViewProps, 'parents'>) {
  const text = useWords(words);
  const environment = useEnvironment();
  const described = useQuery({
    queryKey: ['described calls', environment, proposal.id],
    queryFn: async () => {
      const svc = await sessionSvc();
      return svc.treasuries.describeTreasuryCalls({ treasuryAddress: treasury.address, calls: proposal.calls });
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Section title={text.calls} description={text.callsNote}>
      {described.error && <ErrorNote error={toFailure(described.error)} retry={() => void described.refetch()} />}
      <Card>
        {described.data ? (
          <ol className="stack">
            {described.data.map((call, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: calls are known by their place
              <li key={index}>
                <DescribedCallView call={call} />
              </li>
            ))}
          </ol>
        ) : (
          <Skeleton lines={2} />
        )}
      </Card>
    </Section>
  );
}

function DescribedCallView({ call }: { call: DescribedCall }) {
  const text = useWords(words);
  switch (call.kind) {
    case 'TRANSFER':
    case 'APPROVE': {
      const amount = `${call.amount} ${call.token ?? text.unit}`;
      return (
        <span className="row">
          <strong>{call.kind === 'TRANSFER' ? text.pay(amount) : text.allow(amount)}</strong>
          <Hash value={call.party} label={text.recipient} />
        </span>
      );
    }
    case 'SET_SIGNERS':
      return (
        <span className="row">
          <strong>{text.setSigners(call.threshold, call.signers.length)}</strong>
          {call.signers.map((key) => (
            <Hash key={key} value={key} label={text.publicKey} />
          ))}
        </span>
      );
    case 'SET_LIMIT':
      return (
        <strong>
          {text.setLimit(
            `${call.amount} ${call.token ?? text.unit}`,
            text.windowOf(call.windowSeconds),
            call.threshold,
          )}
        </strong>
      );
    case 'REMOVE_LIMIT':
      return <strong>{text.removeLimit(call.token ?? call.tokenAddress)}</strong>;
    case 'UPGRADE':
      return (
        <span className="row">
          <strong>{text.upgrade}</strong>
          <Hash value={call.classHash} label={text.upgrade} />
        </span>
      );
    case 'UNKNOWN':
      return (
        <div className="stack">
          <span className="row">
            <strong>{text.unknown}</strong>
            <Hash value={call.contractAddress} label={text.address} />
          </span>
          <DescriptionList
            rows={[
              [text.entrypoint, <Hash key="entrypoint" value={call.entrypoint} label={text.entrypoint} />],
              [text.calldata, call.calldata.length === 0 ? text.none : <Felts key="data" felts={call.calldata} />],
            ]}
          />
        </div>
      );
  }
}

const Felts = ({ felts }: { felts: readonly string[] }) => (
  <ol className="mono felts">
    {felts.map((felt, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: values are known by their place
      <li key={index}>{felt}</li>
    ))}
  </ol>
);

function Signatures({ treasury, proposal }: Omit<ViewProps, 'parents'>) {
  const text = useWords(words);
  const signed = new Map(proposal.signatures.map(({ publicKey, signedAt }) => [publicKey, signedAt]));
  const progress = text.ofSigners(proposal.signatures.length, proposal.requiredSignatures);
  return (
    <Section title={text.whoSigned} description={`${text.signatures}: ${progress}`}>
      <Card flush>
        <DataTable
          label={text.whoSigned}
          rows={treasury.signers}
          rowKey={({ publicKey }) => publicKey}
          columns={[
            { key: 'name', label: text.signerName, cell: ({ name }) => name, main: true },
            {
              key: 'key',
              label: text.publicKey,
              cell: ({ publicKey }) => <Hash value={publicKey} label={text.publicKey} />,
            },
            {
              key: 'signed',
              label: text.signedAt,
              cell: ({ publicKey }) => <Time value={signed.get(publicKey) ?? null} none={text.notSigned} />,
            },
          ]}
          empty={null}
        />
      </Card>
    </Section>
  );
}
