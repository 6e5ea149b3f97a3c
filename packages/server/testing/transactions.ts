import { randomBytes } from 'node:crypto';
import type { BodyOf, endpoints, StarknetAddress, TxStatus } from '@svc/protocol';
import { type Call, classes, toHex } from '@svc/starknet';
import { type Reads, sql } from '@svc/store';
import { findToken } from '../src/chains/tokens.ts';
import type { Caller, Call as HttpCall } from '../src/http/call.ts';
import type { RelayOutcome } from '../src/relayer/outcome.ts';
import { executeSponsored, prepareTypedData } from '../src/transactions/execute.ts';
import type { NewRecord, TransactionRecord } from '../src/transactions/record.ts';
import { type RecordOwner, recordsByHash } from '../src/transactions/record-store.ts';
import { transactionOutcomes } from '../src/transactions/relay-outcome.ts';
import { createWallet } from '../src/wallets/create-wallet.ts';
import { relayer } from './chain.ts';
import { Owner, openWallets, WalletFixture } from './wallets.ts';

export const environment = 'development' as const;
export const USDC = addressOfToken('USDC');
export const STRK = addressOfToken('STRK');

export type CallText = BodyOf<typeof endpoints.prepareTypedData>['calls'][number];
export type ExecuteBody = BodyOf<typeof endpoints.executeSponsoredTransaction>;

export const outsider = relayer(3);

export class TransactionFixture extends WalletFixture {
  static override async start(): Promise<TransactionFixture> {
    return new TransactionFixture(await openWallets());
  }

  /** A deployed wallet with 100 USDC and 100 STRK. */
  async funded(externalUserId = 'ana', classHash: bigint = classes.svc): Promise<Owner> {
    const owner = new Owner(classHash);
    await this.wallet(owner, externalUserId);
    for (const token of ['USDC', 'STRK'] as const) await this.sandbox.faucet(owner.address, token, '100');
    return owner;
  }

  async signed(owner: Owner, calls: readonly CallText[], changes: Partial<ExecuteBody> = {}): Promise<ExecuteBody> {
    const body = { publicKey: owner.address, calls: [...calls] };
    const { typedData } = await prepareTypedData(this, this.caller(), body);
    return { publicKey: owner.address, typedData, userSignature: owner.sign(typedData), ...changes };
  }

  async execute(owner: Owner, calls: readonly CallText[], changes?: Partial<ExecuteBody>): Promise<string> {
    const body = await this.signed(owner, calls, changes);
    return (await executeSponsored(this, this.caller(), body)).transactionHash;
  }

  /** From an account that is no wallet; answers the hash. */
  sendAlone(calls: readonly Call[]): Promise<string> {
    return this.sendFrom(outsider, calls);
  }

  /** Applies a relay's outcome to its records, as the chain shows it but for the changes. */
  async applyOutcome(hash: string, changes: Partial<RelayOutcome> = {}): Promise<void> {
    const outcome = { ...(await this.sponsor.outcomeOf(hash)), ...changes };
    await this.db.tx((tx) => transactionOutcomes().calls(tx, outcome));
  }

  async walletOf(owner: Owner, caller: Caller): Promise<void> {
    const { txHash } = await createWallet(this, caller, await this.request(owner, 'eva'));
    await this.settle(txHash);
  }

  /** A wallet whose creation is stored and never sent. */
  async unsent(externalUserId = 'ana'): Promise<Owner> {
    const owner = new Owner();
    const creation = await this.request(owner, externalUserId);
    this.sponsor.beforeSend = () => {
      throw new Error('The process ends here.');
    };
    await createWallet(this, this.caller(), creation).catch(() => {});
    this.sponsor.beforeSend = () => {};
    return owner;
  }

  async voidCreation({ address }: Owner): Promise<void> {
    const wallet = toHex(BigInt(address));
    const relay = await this.db.one<{ hash: string }>(sql`
      update relays set state = 'VOIDED' where wallet = ${wallet} and state = 'STORED' returning hash`);
    await this.settle(relay?.hash ?? '', 'VOIDED');
  }

  records(hash: string, { organizationId } = this.caller()): Promise<TransactionRecord[]> {
    return recordsByHash(this.db.reads, { environment, organizationId }, 'STARKNET', hash);
  }

  async statuses(hash: string): Promise<TxStatus[]> {
    return (await this.records(hash)).map(({ status }) => status);
  }
}

export function transferOf(to: string, amount: bigint | number, token: string = USDC): CallText {
  return { contractAddress: token, entrypoint: 'transfer', calldata: [to, String(amount), '0x0'] };
}

/** Without an idempotency key. */
export function httpCall<E extends typeof endpoints.recordSend>(
  fixture: WalletFixture,
  caller: Caller,
  body: BodyOf<E>,
): HttpCall<E> {
  const call = { params: undefined, query: undefined, body, caller, transact: fixture.db.tx };
  return call as unknown as HttpCall<E>;
}

let strangers = 0xabc000n;
export function stranger(): StarknetAddress {
  strangers += 1n;
  return `0x${strangers.toString(16).padStart(64, '0')}` as StarknetAddress;
}

function addressOfToken(token: 'USDC' | 'STRK'): string {
  return findToken('sandbox', 'STARKNET', token)?.address ?? '';
}

export const newFelt = (): string => `0x0${randomBytes(32).toString('hex').slice(1)}`;

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

/** The record of the purchase that a transfer paid for: it differs in its type alone. */
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

/** Places of histories whose counts and uncounted entries do not add up. */
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
