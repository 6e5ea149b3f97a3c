import {
  type CachedWallet,
  SvcProvider,
  skipToken,
  useAddSessionKey,
  useBalance,
  useBalances,
  useCall,
  useChangeEncryptKey,
  useChangeToPasskey,
  useCheckSkuReference,
  useClaim,
  useConfig,
  useCreateGift,
  useCreateSessionKey,
  useCreateWallet,
  useDeleteGift,
  useExecuteWithSession,
  useGift,
  useGifts,
  useIsUnlocked,
  useLock,
  usePurchase,
  usePurchaseSku,
  useReceipt,
  useRedeemGift,
  useRedeemStatus,
  useRemoveSpendingPolicy,
  useRevokeSessionKey,
  useSession,
  useSetSpendingPolicy,
  useSetupSession,
  useSku,
  useSkus,
  useSpendingPolicy,
  useSvc,
  useSyncOnChain,
  useTransaction,
  useTransactionPages,
  useTransactionStatus,
  useTransactions,
  useTransfer,
  useUnlock,
  useUpdateGift,
  useUsdAmount,
  useWallet,
} from '@svc/react';
import { createClient, type Session as SessionKey, type SvcError } from '@svc/sdk';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { PrivateBalance } from './react-private.tsx';
import { Treasury } from './react-treasury.tsx';

const asked = new URLSearchParams(location.search);
const ask = (name: string) => asked.get(name) ?? '';
const externalUserId = ask('user');
const [PIN, RECIPIENT, SKU] = ['pin-of-the-page', '0xb0b', 'telcel-recarga-100'];
const client = createClient({ baseUrl: ask('baseUrl'), publicKey: ask('publicKey'), bearerToken: ask('token') });
/** Stands for a program of the organisation's own: `createClient` refuses a secret key in a page. */
const credential = { 'x-api-key': ask('publicKey'), authorization: `Bearer ${ask('secretKey')}` };
const staff = { ...client, credential };
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
      {wallet && ask('private') === '' && <Opened wallet={wallet} />}
      {wallet && ask('private') !== '' && (
        <PrivateBalance wallet={wallet} show={(name, value) => <Show name={name} value={value} />} />
      )}
    </>
  );
}

function Opened({ wallet }: { wallet: CachedWallet }) {
  const [pin, setPin] = useState('');
  const [lock, unlock, isUnlocked] = [useLock(), useUnlock(), useIsUnlocked(wallet)];
  const [change, toPasskey] = [useChangeEncryptKey(), useChangeToPasskey()];
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
      <Show name="passkey" value={code(toPasskey.error) ?? toPasskey.status} />
      <button
        type="button"
        onClick={() => toPasskey.mutate({ externalUserId, wallet, encryptKey: pin, backupEncryptKey: pin })}
      >
        Change to passkey
      </button>
      <Service wallet={wallet} />
      <Send wallet={wallet} />
      <Buy wallet={wallet} />
      <Gift wallet={wallet} />
      <Session wallet={wallet} />
    </>
  );
}

function Service({ wallet }: { wallet: CachedWallet }) {
  const [config, sync] = [useConfig(), useSyncOnChain()];
  const balance = useBalance({ chain: 'STARKNET', chainToken: 'USDC', externalUserId });
  const skus = useSkus({ limit: 2 });
  const check = useCheckSkuReference();
  const pages = useTransactionPages({ walletAddress: wallet.publicKey, limit: 1 });
  return (
    <>
      <Show name="client" value={useSvc() === client} />
      <Show name="chain" value={config.data?.chainId} />
      <Show name="balance" value={balance.data?.balance} />
      <Show name="synced" value={code(sync.error) ?? sync.data?.total} />
      <Show name="skus" value={skus.data?.items.length} />
      <Show name="reference" value={code(check.error) ?? check.data?.valid} />
      <Show name="pages" value={pages.data?.pages.length} />
      <button type="button" onClick={() => sync.mutate({ walletAddress: wallet.publicKey })}>
        Sync
      </button>
      <button type="button" onClick={() => check.mutate({ id: 'pase-recarga', reference: 'IMDM28417936' })}>
        Check the reference
      </button>
      <button type="button" onClick={() => void pages.fetchNextPage()}>
        Next page
      </button>
    </>
  );
}

function Send({ wallet }: { wallet: CachedWallet }) {
  const [transfer, call] = [useTransfer(), useCall()];
  const status = useTransactionStatus(transfer.data ? { hash: transfer.data } : skipToken);
  const receipt = useReceipt(call.data ? { hash: call.data } : skipToken);
  const record = useTransaction(transfer.data ? { hashOrId: transfer.data } : skipToken);
  const calls = [{ contractAddress: ask('usdc'), entrypoint: 'approve', calldata: [RECIPIENT, 1, 0] }];
  return (
    <>
      <Show name="transfer" value={code(transfer.error) ?? status.data?.status} />
      <Show name="record" value={record.data?.status} />
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
  const [update, remove] = [useUpdateGift(), useDeleteGift()];
  const id = create.data?.id ?? '';
  const gifts = useGifts();
  const stored = useGift(create.data && !remove.isSuccess ? { id } : skipToken);
  const redeemId = redeem.data && 'giftRedeem' in redeem.data ? redeem.data.giftRedeem.id : undefined;
  const state = useRedeemStatus(redeemId ? { code: create.data?.code ?? '', redeemId } : skipToken);
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
      <Show name="redeem state" value={state.data?.status} />
      <Show name="gifts" value={gifts.data?.items.length} />
      <Show name="gift" value={stored.data?.isActive} />
      <button type="button" onClick={() => update.mutate({ id, isActive: false })}>
        Pause the gift
      </button>
      <button type="button" onClick={() => remove.mutate({ id })}>
        Delete the gift
      </button>
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
  const [createKey, setup, add] = [useCreateSessionKey(), useSetupSession(), useAddSessionKey()];
  const [revoke, execute] = [useRevokeSessionKey(), useExecuteWithSession()];
  const [limit, unlimit] = [useSetSpendingPolicy(), useRemoveSpendingPolicy()];
  const [key, setKey] = useState<SessionKey>();
  const [walletAddress, token] = [wallet.publicKey, ask('usdc')];
  const sessionPublicKey = key?.publicKey ?? '';
  const session = useSession(setup.data ? { walletAddress, sessionPublicKey } : skipToken);
  const policy = useSpendingPolicy(setup.data ? { walletAddress, sessionPublicKey, token } : skipToken);
  const spent = useReceipt(execute.data ? { hash: execute.data } : skipToken);
  const configOf = ({ publicKey, validUntil }: SessionKey, maxCalls: number) => ({
    ...{ sessionPublicKey: publicKey, validUntil, maxCalls, allowedEntrypoints: ['transfer'] },
  });
  const limits = { token, maxPerCall: 5n, maxPerWindow: 9n, windowSeconds: 3600 };
  const start = async () => {
    const made = await createKey.mutateAsync({ encryptKey: PIN });
    setKey(made);
    setup.mutate({ wallet, sessionConfig: configOf(made, 3), spendingPolicies: [limits] });
  };
  const calls = [{ contractAddress: token, entrypoint: 'transfer', calldata: [RECIPIENT, 4, 0] }];
  const steps: Record<string, () => void> = {
    'Start a session': () => void start(),
    'Spend by session': () => key && execute.mutate({ wallet, session: key, encryptKey: PIN, calls }),
    'More calls': () => key && add.mutate({ wallet, sessionConfig: configOf(key, 9) }),
    'Raise the limit': () =>
      limit.mutate({ wallet, spendingPolicyConfig: { ...limits, maxPerCall: 7n, sessionPublicKey } }),
    'Remove the limit': () => unlimit.mutate({ wallet, sessionPublicKey, token }),
    Revoke: () => revoke.mutate({ wallet, sessionPublicKey }),
  };
  return (
    <>
      <Show name="session" value={code(setup.error) ?? session.data?.isActive} />
      <Show name="calls left" value={code(add.error) ?? session.data?.remainingCalls} />
      <Show name="session key" value={key?.encryptedPrivateKey.slice(0, 5)} />
      <Show name="spent" value={code(execute.error) ?? spent.data?.success} />
      <Show name="policy" value={policy.data && `${policy.data.maxPerCall} ${policy.data.spentInWindow}`} />
      {Object.entries(steps).map(([name, step]) => (
        <button key={name} type="button" onClick={step}>
          {name}
        </button>
      ))}
    </>
  );
}

const root = document.createElement('main');
document.body.append(root);
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      {ask('treasury') === '' ? (
        <SvcProvider client={client}>
          <Wallet />
        </SvcProvider>
      ) : (
        <SvcProvider client={staff}>
          <Treasury
            treasuryId={ask('treasury')}
            recipient={ask('recipient')}
            privateKey={ask('signer')}
            show={(name, value) => <Show name={name} value={value} />}
          />
        </SvcProvider>
      )}
    </QueryClientProvider>
  </StrictMode>,
);
