'use client';
import { useTransfer, useUnlock, useWallet } from '@svc/react';

export function Wallet({ externalUserId }: { externalUserId: string }) {
  const { data: wallet } = useWallet({ externalUserId });
  const [unlock, transfer] = [useUnlock(), useTransfer()];
  if (!wallet) return <p>No wallet yet.</p>;
  const pay = async () => {
    await unlock.mutateAsync({ wallet });
    transfer.mutate({ wallet, amount: '1', token: 'USDC', recipient: '0xb0b' });
  };
  return (
    <p>
      <output>{wallet.publicKey}</output>
      <button type="button" onClick={() => void pay()}>
        Pay
      </button>
    </p>
  );
}
