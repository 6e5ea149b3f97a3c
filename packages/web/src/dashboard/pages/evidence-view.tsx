import type { SharedEvidence } from '@svc/protocol';
import { Check, CircleDashed, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Link } from '../../ui/link.tsx';
import { Card, DescriptionList, Note } from '../../ui/page.tsx';
import { Hash, Money, Time } from '../../ui/values.tsx';
import { explorerUrl } from '../place.ts';
import { words } from '../words/evidence.ts';
import { words as giftWords } from '../words/gifts.ts';
import { words as shellWords } from '../words/shell.ts';
import { useWords } from '../words.ts';
import './evidence.css';

export interface EvidenceViewProps {
  evidence: SharedEvidence;
  /** The gift's page, for members. */
  giftTo?: string;
  /** More facts, for members. */
  more?: readonly (readonly [label: string, value: ReactNode])[];
}

const icons = { DONE: Check, WAITING: CircleDashed, FAILED: X };

/** What was paid, and every step of the way. */
export function EvidenceView({ evidence, giftTo, more = [] }: EvidenceViewProps) {
  const text = useWords(words);
  const { chains } = useWords(giftWords);
  const { environments } = useWords(shellWords);
  const { steps, status } = evidence;
  const isLocal = (chain: string | null) => chain === 'starknet' && evidence.environment === 'development';
  const isBurned = steps.some(({ name, state }) => name === 'BURNED' && state === 'DONE');
  return (
    <div className="stack evidence">
      {status === 'FAILED' && <Note tone="bad">{isBurned ? text.failedAfter : text.failedBefore}</Note>}
      <Card title={text.facts}>
        <DescriptionList
          columns={2}
          rows={[
            [text.amount, <Money key="amount" amount={evidence.amount} unit="USDC" />],
            [text.chain, chains[evidence.destinationChain]],
            [text.wallet, <Hash key="wallet" value={evidence.walletAddress} label={text.wallet} full />],
            [text.organization, evidence.orgName],
            [
              text.gift,
              giftTo === undefined ? (
                evidence.giftName
              ) : (
                <Link key="gift" to={giftTo}>
                  {evidence.giftName}
                </Link>
              ),
            ],
            [text.requested, <Time key="requested" value={evidence.createdAt} exact />],
            [
              text.bridgeFee,
              evidence.bridgeFee === null ? undefined : <Money key="fee" amount={evidence.bridgeFee} unit="USDC" />,
            ],
            [text.receiveProof, evidence.receiveProof === null ? undefined : text.receiveProofs[evidence.receiveProof]],
            ...more,
            [text.environment, environments[evidence.environment]],
            [text.id, <Hash key="id" value={evidence.id} label={text.id} full />],
          ]}
        />
      </Card>
      <Card title={text.steps} actions={<StatusBadge status={status} />}>
        <ol className="steps">
          {steps.map(({ name, state, chain, hash, at }) => {
            const Icon = icons[state];
            return (
              <li key={name} className="step" data-state={state}>
                <span className="step-icon">
                  <Icon size={14} aria-hidden />
                </span>
                <div className="step-text">
                  <p className="step-name">
                    {text.names[name]} <span className="hidden">{text.states[state]}</span>
                  </p>
                  {state === 'DONE' && <p className="soft">{text.notes[name]}</p>}
                  {state === 'FAILED' && <p className="soft">{text.stepFailed}</p>}
                  {hash !== null && (
                    <Hash
                      value={hash}
                      label={text.names[name]}
                      href={isLocal(chain) ? `${explorerUrl}/tx/${hash}` : undefined}
                      full
                    />
                  )}
                </div>
                <p className="step-time soft">
                  <Time value={at} exact none={state === 'WAITING' ? text.states.WAITING : '–'} />
                </p>
              </li>
            );
          })}
        </ol>
      </Card>
    </div>
  );
}
