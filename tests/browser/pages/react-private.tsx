import type { CachedWallet } from '@svc/react/options';
import {
  usePrivateAddress,
  usePrivateBalance,
  usePrivateHistory,
  usePrivateTerms,
  usePrivateTransfer,
  useRollover,
  useShield,
  useShieldBatch,
  useUnshield,
} from '@svc/react/private-balance';
import { type ReactNode, useState } from 'react';

interface Props {
  readonly wallet: CachedWallet;
  readonly show: (name: string, value: unknown) => ReactNode;
}

/** A private account that sends to itself, so that it also receives. */
export function PrivateBalance({ wallet, show }: Props) {
  const [steps, setSteps] = useState<readonly string[]>([]);
  const [terms, address] = [usePrivateTerms(), usePrivateAddress({ wallet })];
  const [balance, history] = [usePrivateBalance({ wallet }), usePrivateHistory({ wallet })];
  const [shield, batch, unshield] = [useShield(), useShieldBatch(), useUnshield()];
  const [transfer, rollover] = [usePrivateTransfer(), useRollover()];
  const failed = [terms, address, balance, history, shield, batch, unshield, transfer, rollover]
    .map(({ error }) => error?.message ?? '')
    .join('');
  const common = { wallet, retryIntervalMs: 50 };
  const actions: Record<string, () => void> = {
    Shield: () => shield.mutate({ ...common, amount: '2', onStep: (step) => setSteps((all) => [...all, step]) }),
    'Shield twice': () => batch.mutate({ ...common, amounts: ['1', '2'] }),
    'Send privately': () => transfer.mutate({ ...common, amount: '1.5', recipient: address.data ?? '' }),
    'Roll over': () => rollover.mutate(common),
    Unshield: () => unshield.mutate({ ...common, amount: '4' }),
  };
  return (
    <>
      {show('fee', terms.data?.fee)}
      {show('steps', steps.join())}
      {show('private', failed || (balance.data && `${balance.data.balance} and ${balance.data.pending}`))}
      {show('private history', history.data?.map(({ type }) => type).join())}
      {Object.entries(actions).map(([name, act]) => (
        <button key={name} type="button" onClick={act}>
          {name}
        </button>
      ))}
    </>
  );
}
