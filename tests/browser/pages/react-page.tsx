import {
  type CachedWallet,
  SvcProvider,
  skipToken,
  useBalances,
  useCall,
  useChangeEncryptKey,
  useClaim,
  useCreateGift,
  useCreateSessionKey,
  useCreateWallet,
  useIsUnlocked,
  useLock,
  usePurchase,
  usePurchaseSku,
  useReceipt,
  useRedeemGift,
  useSession,
  useSetupSession,
  useSku,
  useTransactionStatus,
  useTransactions,
  useTransfer,
  useUnlock,
  useUsdAmount,
  useWallet,
} from '@svc/react';
import { createClient, type SvcError } from '@svc/sdk';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';

const asked = new URLSearchParams(location.search);
const ask = (name: string) => asked.get(name) ?? '';
const externalUserId = ask('user');
const [PIN, RECIPIENT, SKU] = ['pin-of-the-page', '0xb0b', 'telcel-recarga-100'];
const client = createClient({ baseUrl: ask('baseUrl'), publicKey: ask('publicKey'), bearerToken: ask('token') });
const queryClient = new QueryClient();

const write = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** What developer tools, dehydration and persisters see. */
const states = () =>
  JSON.stringify(
    [
      ...queryClient
        .getQueryCache()
        .getAll()
        .map(({ queryKey, state }) => ({ queryKey, state })),
      ...queryClient
        .getMutationCache()
        .getAll()
        .map(({ state }) => state),
    ],
    write,
  );
export interface ReactPage {
  readonly states: typeof states;
}
Object.assign(globalThis, { states } satisfies ReactPage);

/** A value for the test to read. */
const Show = ({ name, value }: { name: string; value: unknown }) => (
  <p>
    {name}: <output aria-label={name}>{value === undefined ? '' : String(value)}</output>
  </p>
);
const code = (error: Error | null) => (error as SvcError | null)?.code ?? error?.message;

function Wallet() {
  const { data: wallet, isSuccess } = useWallet({ externalUserId });
  const create = useCreateWallet();
  const make = (usePasskey: boolean) =>
    create.mutate({ externalUserId, chain: 'STARKNET', encryptKey: PIN, usePasskey });
  return (
    <>
      <Show name="wallet" value={isSuccess ? (wallet?.publicKey ?? 'none') : undefined} />
      <Show name="created" value={code(create.error) ?? create.data?.transactionHash} />
      <button type="button" onClick={() => make(true)}>
        Create
      </button>
      {wallet && <Opened wallet={wallet} />}
    </>
  );
}

function Opened({ wallet }: { wallet: CachedWallet }) {
  const [pin, setPin] = useState('');
  const [lock, unlock, isUnlocked] = [useLock(), useUnlock(), useIsUnlocked(wallet)];
  const change = useChangeEncryptKey();
  const balances = useBalances({ walletPublicKey: wallet.publicKey, tokens: ['USDC', 'STRK'] });
  const transactions = useTransactions({ walletAddress: wallet.publicKey });
  return (
    <>
      <Show name="unlocked" value={isUnlocked} />
      <Show name="unlock" value={code(unlock.error) ?? unlock.status} />
      <Show name="balances" value={balances.data.map(({ chainToken, balance }) => `${chainToken} ${balance}`).join()} />
      <Show name="types" value={transactions.data?.items.map(({ type }) => type).join()} />
      <input aria-label="PIN" value={pin} onChange={({ target }) => setPin(target.value)} />
      <button type="button" onClick={() => unlock.mutate({ wallet, encryptKey: pin })}>
        Unlock with PIN
      </button>
      <button type="button" onClick={() => unlock.mutate({ wallet })}>
        Unlock with passkey
      </button>
      <button type="button" onClick={() => lock()}>
        Lock
      </button>
      <Show name="change" value={code(change.error) ?? change.status} />
      <button
        type="button"
        onClick={() => change.mutate({ externalUserId, wallet, encryptKey: PIN, newEncryptKey: pin })}
      >
        Change PIN
      </button>
      <Send wallet={wallet} />
      <Buy wallet={wallet} />
      <Gift wallet={wallet} />
      <Session wallet={wallet} />
    </>
  );
}

function Send({ wallet }: { wallet: CachedWallet }) {
  const [transfer, call] = [useTransfer(), useCall()];
  const status = useTransactionStatus(transfer.data ? { hash: transfer.data } : skipToken);
  const receipt = useReceipt(call.data ? { hash: call.data } : skipToken);
  const calls = [{ contractAddress: ask('usdc'), entrypoint: 'approve', calldata: [RECIPIENT, 1, 0] }];
  return (
    <>
      <Show name="transfer" value={code(transfer.error) ?? status.data?.status} />
      <Show name="call" value={code(call.error) ?? receipt.data?.success} />
      <button
        type="button"
        onClick={() => transfer.mutate({ wallet, amount: '1.5', token: 'USDC', recipient: RECIPIENT })}
      >
        Send
      </button>
      <button type="button" onClick={() => call.mutate({ wallet, calls, encryptKey: PIN })}>
        Call
      </button>
    </>
  );
}

function Buy({ wallet }: { wallet: CachedWallet }) {
  const sku = useSku({ id: SKU });
  const usd = useUsdAmount(
    sku.data?.fixedAmount ? { currencyAmount: sku.data.fixedAmount, currency: sku.data.currency } : skipToken,
  );
  const buy = usePurchaseSku();
  const purchase = usePurchase(buy.data ? { id: buy.data.id } : skipToken);
  return (
    <>
      <Show name="price" value={usd.data} />
      <Show name="purchase" value={code(buy.error) ?? purchase.data?.status} />
      <button type="button" onClick={() => buy.mutate({ wallet, skuId: SKU, skuReference: '5512345678' })}>
        Buy
      </button>
    </>
  );
}

function Gift({ wallet }: { wallet: CachedWallet }) {
  const [create, redeem] = [useCreateGift(), useRedeemGift()];
  const claim = useClaim(create.data ? { code: create.data.code } : skipToken);
  const gift = { name: 'Hooks', amount: '2', maxRedeems: 1, maxRedeemsPerUser: 1, isActive: true };
  const startsAt = new Date(0).toISOString();
  const give = () => create.mutate({ ...gift, code: `HOOKS-${crypto.randomUUID()}`, startsAt });
  const take = () =>
    redeem.mutate({ code: create.data?.code ?? '', walletAddress: wallet.publicKey, chain: 'starknet' });
  return (
    <>
      <Show
        name="claim"
        value={code(create.error) ?? (claim.data?.valid ? claim.data.gift.amount : claim.data?.reason)}
      />
      <Show name="redeem" value={code(redeem.error) ?? redeem.status} />
      <button type="button" onClick={give}>
        Give
      </button>
      <button type="button" onClick={take}>
        Claim
      </button>
    </>
  );
}

function Session({ wallet }: { wallet: CachedWallet }) {
  const [createKey, setup] = [useCreateSessionKey(), useSetupSession()];
  const [returned, setReturned] = useState('');
  const sessionPublicKey = createKey.data?.publicKey ?? '';
  const session = useSession(setup.data ? { walletAddress: wallet.publicKey, sessionPublicKey } : skipToken);
  const start = async () => {
    const made = await createKey.mutateAsync({ encryptKey: PIN });
    setReturned(made.encryptedPrivateKey.slice(0, 5));
    const { publicKey, validUntil } = made;
    const sessionConfig = { sessionPublicKey: publicKey, validUntil, maxCalls: 3, allowedEntrypoints: ['transfer'] };
    const limit = { token: ask('usdc'), maxPerCall: 5n, maxPerWindow: 9n, windowSeconds: 3600 };
    setup.mutate({ wallet, sessionConfig, spendingPolicies: [limit] });
  };
  return (
    <>
      <Show name="session" value={code(setup.error) ?? session.data?.isActive} />
      <Show name="session key" value={returned} />
      <button type="button" onClick={() => void start()}>
        Start a session
      </button>
    </>
  );
}

const root = document.createElement('main');
document.body.append(root);
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <SvcProvider client={client}>
        <Wallet />
      </SvcProvider>
    </QueryClientProvider>
  </StrictMode>,
);
