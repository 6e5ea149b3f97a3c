import { randomBytes } from 'node:crypto';
import type { BodyOf, endpoints, StarknetAddress, TxStatus } from '@svc/protocol';
import { type Call, classes, toHex } from '@svc/starknet';
import { type Reads, sql } from '@svc/store';
import type { StarknetChain } from '../src/chains/starknet/chain.ts';
import { findToken } from '../src/chains/tokens.ts';
import type { Caller, Call as HttpCall } from '../src/http/call.ts';
import type { RelayOutcome } from '../src/relayer/outcome.ts';
import { executeSponsored, prepareTypedData } from '../src/transactions/execute.ts';
import type { NewRecord, TransactionRecord } from '../src/transactions/record.ts';
import { type RecordOwner, recordsByHash } from '../src/transactions/record-store.ts';
import { transactionOutcomes } from '../src/transactions/relay-outcome.ts';
import { createWallet } from '../src/wallets/create-wallet.ts';
import { relayer, signed } from './chain.ts';
import { Owner, openWalletFixture, type WalletFixture } from './wallets.ts';

export const environment = 'development' as const;
export const USDC = addressOfToken('USDC');
export const STRK = addressOfToken('STRK');

export type CallText = BodyOf<typeof endpoints.prepareTypedData>['calls'][number];
export type ExecuteBody = BodyOf<typeof endpoints.executeSponsoredTransaction>;

/** An account with STRK that is no wallet of anybody. */
export const outsider = relayer(3);

export interface TransactionFixture extends WalletFixture {
  readonly chain: StarknetChain;
  /** A wallet that stands on the chain, with 100 USDC and 100 STRK. */
  funded(externalUserId?: string, classHash?: bigint): Promise<Owner>;
  /** Calls that the owner has signed, ready to be executed. */
  signed(owner: Owner, calls: readonly CallText[], changes?: Partial<ExecuteBody>): Promise<ExecuteBody>;
  execute(owner: Owner, calls: readonly CallText[], changes?: Partial<ExecuteBody>): Promise<string>;
  /** Executes calls from an account that is no wallet. Answers the hash. */
  sendAlone(calls: readonly Call[]): Promise<string>;
  /** Tells the records how their relay ended, as the chain shows it but for the changes. */
  tell(hash: string, changes?: Partial<RelayOutcome>): Promise<void>;
  /** A wallet of another organisation. */
  walletOf(owner: Owner, caller: Caller): Promise<void>;
  /** A wallet whose creation is stored and never sent. */
  unsent(externalUserId?: string): Promise<Owner>;
  /** Ends the creation of a wallet that was never sent. */
  giveUp(owner: Owner): Promise<void>;
  records(hash: string, caller?: Caller): Promise<TransactionRecord[]>;
  statuses(hash: string): Promise<TxStatus[]>;
}

export async function openTransactionFixture(): Promise<TransactionFixture> {
  const wallets = await openWalletFixture();
  const { calls } = transactionOutcomes();
  const fixture: TransactionFixture = {
    ...wallets,
    chain: wallets.networks.starknet(environment).chain,
    funded: async (externalUserId = 'ana', classHash = classes.svc) => {
      const owner = new Owner(classHash);
      await wallets.wallet(owner, externalUserId);
      for (const token of ['USDC', 'STRK']) {
        await wallets.control('/faucet', { address: owner.address, token, amount: '100' });
      }
      return owner;
    },
    signed: async (owner, texts, changes = {}) => {
      const prepared = await prepareTypedData(wallets, wallets.caller(), {
        publicKey: owner.address,
        calls: [...texts],
      });
      const { typedData } = prepared;
      return { publicKey: owner.address, typedData, userSignature: owner.sign(typedData), ...changes };
    },
    execute: async (owner, texts, changes) => {
      const body = await fixture.signed(owner, texts, changes);
      return (await executeSponsored(wallets, wallets.caller(), body)).transactionHash;
    },
    sendAlone: async (calls) => {
      const nonce = (await fixture.chain.nonceAt(outsider.address, 'pre_confirmed')) ?? 0n;
      const transaction = signed(calls, { nonce, from: outsider });
      await fixture.chain.send(transaction);
      return toHex(transaction.hash);
    },
    tell: async (hash, changes = {}) => {
      const outcome = { ...(await wallets.sponsor.outcomeOf(hash)), ...changes };
      await wallets.db.tx((tx) => calls(tx, outcome));
    },
    walletOf: async (owner, caller) => {
      const { txHash } = await createWallet(wallets, caller, await wallets.request(owner, 'eva'));
      await wallets.settle(txHash);
    },
    unsent: async (externalUserId = 'ana') => {
      const owner = new Owner();
      const creation = await wallets.request(owner, externalUserId);
      wallets.sponsor.beforeSend = () => {
        throw new Error('The process ends here.');
      };
      await createWallet(wallets, wallets.caller(), creation).catch(() => {});
      wallets.sponsor.beforeSend = () => {};
      return owner;
    },
    giveUp: async ({ address }) => {
      const wallet = toHex(BigInt(address));
      const relay = await wallets.db.one<{ hash: string }>(sql`
        update relays set state = 'VOIDED' where wallet = ${wallet} and state = 'STORED' returning hash`);
      await wallets.settle(relay?.hash ?? '', 'VOIDED');
    },
    records: (hash, { organizationId } = wallets.caller()) =>
      recordsByHash(wallets.db.reads, { environment, organizationId }, 'STARKNET', hash),
    statuses: async (hash) => (await fixture.records(hash)).map(({ status }) => status),
  };
  return fixture;
}

export function transferOf(to: string, amount: bigint | number, token: string = USDC): CallText {
  return { contractAddress: token, entrypoint: 'transfer', calldata: [to, String(amount), '0x0'] };
}

/** A request as the handlers see it, without an idempotency key. */
export function httpCall<E extends typeof endpoints.recordSend>(
  fixture: WalletFixture,
  caller: Caller,
  body: BodyOf<E>,
): HttpCall<E> {
  const call = { params: undefined, query: undefined, body, caller, transact: fixture.db.tx };
  return call as unknown as HttpCall<E>;
}

/** An address that is nobody's. */
let strangers = 0xabc000n;
export function stranger(): StarknetAddress {
  strangers += 1n;
  return `0x${strangers.toString(16).padStart(64, '0')}` as StarknetAddress;
}

function addressOfToken(token: 'USDC' | 'STRK'): string {
  return findToken('sandbox', 'STARKNET', token)?.address ?? '';
}

/** A new address or hash in its normal form. */
export const newFelt = (): string => `0x0${randomBytes(32).toString('hex').slice(1)}`;

/** A transfer from one stranger to another, but for what is given. */
export function aRecord(owner: RecordOwner, given: Partial<NewRecord> = {}): NewRecord {
  return {
    ...owner,
    apiPublicKey: 'pk_dev_test',
    type: 'SEND',
    subType: 'TRANSFER',
    chain: 'STARKNET',
    transactionHash: newFelt(),
    eventIndex: undefined,
    relayId: undefined,
    callIndex: undefined,
    senderAddress: newFelt(),
    destinationAddress: newFelt(),
    contractAddress: undefined,
    contractName: undefined,
    functionName: 'transfer',
    functionSelector: undefined,
    token: 'USDC',
    tokenAddress: newFelt(),
    amount: 2_500_000n,
    status: 'PENDING',
    blockNumber: undefined,
    senderWalletId: undefined,
    destinationWalletId: undefined,
    createdAt: new Date('2026-03-14T15:09:26.535Z'),
    confirmedAt: undefined,
    ...given,
  };
}

/** What the purchase that a transfer paid for is stored as: all that tells it from the transfer is its type. */
export function purchaseOf(payment: NewRecord): NewRecord {
  const { organizationId, environment, chain, transactionHash, senderAddress, destinationAddress } = payment;
  const { token, tokenAddress, amount } = payment;
  return aRecord(
    { organizationId, environment },
    {
      ...{ type: 'SKU_PURCHASE', subType: undefined, functionName: undefined, chain, transactionHash },
      ...{ senderAddress, destinationAddress, token, tokenAddress, amount },
      ...{ skuId: 'agua', skuReference: '1', skuPurchaseAmount: '46.25', skuPurchaseCurrency: 'MXN' },
    },
  );
}

/** Histories whose counts and uncounted entries do not add up to their entries, place by place. */
export function wrongCounts(reads: Reads): Promise<unknown[]> {
  return reads.rows(sql`
    with entry as (
      select history, name as function_name, created_at, transaction_id, uncounted.transaction_id is null as counted
        from transaction_history left join transaction_history_uncounted uncounted
          using (history, created_at, transaction_id)
        cross join lateral unnest(array['', transaction_history.function_name]) as name
       where name is not null
    ),
    place as (
      select *, lead(from_created_at, 1, 'infinity') over list as end_at, lead(from_id, 1, '') over list as end_id
        from transaction_history_counts
      window list as (partition by history, function_name order by from_created_at, from_id)
    )
    select entry.history, entry.function_name, place.from_created_at, place.entries, count(*) as real
      from entry full join place
        on place.history = entry.history and place.function_name = entry.function_name
       and (entry.created_at, entry.transaction_id) >= (place.from_created_at, place.from_id)
       and (entry.created_at, entry.transaction_id) < (place.end_at, place.end_id)
     where entry.counted or entry.history is null
     group by 1, 2, 3, 4, place.from_id
    having place.entries is distinct from count(*) or entry.history is null
     limit 10`);
}
