import {
  type CachedWallet,
  useBalances,
  useCreateWallet,
  useIsUnlocked,
  useLock,
  useSyncOnChain,
  useTransactions,
  useUnlock,
  useWallet,
} from '@svc/react';
import { useState } from 'react';
import { formatAmount, fundWithTestMoney, newCode } from './backend.ts';
import { Buy, Gift, Notice, Send } from './cards.tsx';

export function WalletScreen({ externalUserId }: { externalUserId: string }) {
  const { data: wallet, isPending, error } = useWallet({ externalUserId });
  if (isPending) return <p className="hint">One moment…</p>;
  if (error) return <Notice error={error} />;
  return wallet ? <Home wallet={wallet} /> : <Create externalUserId={externalUserId} />;
}

/** The code first: closing the page now leaves a code without a wallet, never a wallet without a code. */
function Create({ externalUserId }: { externalUserId: string }) {
  const [recoveryCode] = useState(newCode);
  const create = useCreateWallet();
  const make = (usePasskey: boolean) =>
    create.mutate({ externalUserId, chain: 'STARKNET', encryptKey: recoveryCode, usePasskey });
  return (
    <section className="card hero">
      <h2>Your wallet, your key</h2>
      <p>A passkey opens it: your fingerprint, your face or this device's PIN. It costs nothing.</p>
      <p>First keep this recovery code. It opens the wallet where the passkey does not.</p>
      <p className="code">{recoveryCode}</p>
      <button type="button" className="main" disabled={create.isPending} onClick={() => make(true)}>
        {create.isPending ? 'Creating your wallet…' : 'I have kept it, create my wallet'}
      </button>
      {create.error && (
        <button type="button" className="quiet" disabled={create.isPending} onClick={() => make(false)}>
          Use the recovery code alone
        </button>
      )}
      <Notice error={create.error} />
    </section>
  );
}

function Home({ wallet }: { wallet: CachedWallet }) {
  const balances = useBalances({ walletPublicKey: wallet.publicKey, tokens: ['USDC'] });
  const [usdc] = balances.data;
  const sync = useSyncOnChain();
  const fund = async () => {
    await fundWithTestMoney(wallet.publicKey);
    sync.mutate({ walletAddress: wallet.publicKey });
  };
  return (
    <main>
      <section className="card balance">
        <h2>Balance</h2>
        <p>
          <output aria-label="Balance">{usdc ? formatAmount(usdc.balance, usdc.decimals) : '…'}</output> USDC
        </p>
        <p className="code small">{wallet.publicKey}</p>
        <div className="row">
          <Lock wallet={wallet} />
          <button type="button" onClick={() => void fund()}>
            Get 25 test USDC
          </button>
        </div>
        <Notice error={balances.error ?? sync.error} />
      </section>
      <Send wallet={wallet} />
      <Buy wallet={wallet} />
      <Gift wallet={wallet} />
      <Activity wallet={wallet} />
    </main>
  );
}

function Lock({ wallet }: { wallet: CachedWallet }) {
  const [isUnlocked, lock, unlock] = [useIsUnlocked(wallet), useLock(), useUnlock()];
  const [isAsking, setIsAsking] = useState(false);
  const [recoveryCode, setRecoveryCode] = useState('');
  if (isUnlocked) {
    return (
      <button type="button" onClick={() => lock(wallet)}>
        Lock
      </button>
    );
  }
  return (
    <>
      <button type="button" className="main" disabled={unlock.isPending} onClick={() => unlock.mutate({ wallet })}>
        Unlock with passkey
      </button>
      <button type="button" className="quiet" onClick={() => setIsAsking(true)}>
        Use the recovery code
      </button>
      {isAsking && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            unlock.mutate({ wallet, encryptKey: recoveryCode.trim().toUpperCase() });
          }}
        >
          <label>
            Recovery code
            <input required value={recoveryCode} onChange={({ target }) => setRecoveryCode(target.value)} />
          </label>
          <button type="submit">Open</button>
        </form>
      )}
      <Notice error={unlock.error} />
    </>
  );
}

function Activity({ wallet }: { wallet: CachedWallet }) {
  const { data } = useTransactions({ walletAddress: wallet.publicKey });
  // A purchase and its payment are two records of one transaction.
  const bought = data?.items.filter(({ type }) => type === 'SKU_PURCHASE').map((item) => item.transactionHash);
  const items = data?.items.filter(
    ({ type, transactionHash }) => type !== 'SEND' || !bought?.includes(transactionHash),
  );
  const isIncoming = (address: string) => BigInt(address) === BigInt(wallet.publicKey);
  return (
    <section className="card">
      <h2>Activity</h2>
      {data?.items.length === 0 && <p className="hint">Nothing yet. What you send and receive appears here.</p>}
      <ul>
        {items?.map(({ id, type, amount, token, destinationAddress, status }) => (
          <li key={id}>
            <span>{isIncoming(destinationAddress) ? 'Received' : type === 'SKU_PURCHASE' ? 'Bought' : 'Sent'}</span>
            <strong>
              {isIncoming(destinationAddress) ? '+' : '−'}
              {amount && token === 'USDC' ? formatAmount(amount, 6) : ''} {token}
            </strong>
            <small>{status.toLowerCase()}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}
