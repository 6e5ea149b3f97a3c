import { ApiError, type BodyOf, type endpoints, type Sku, type Transaction } from '@svc/protocol';
import {
  ANY_CALLER,
  accountAddress,
  chainIds,
  currentClassHash,
  encodeOutsideExecution,
  type OutsideExecution,
  outsideExecutionHash,
  outsideExecutionTypedData,
  parseOutsideExecutionTypedData,
  selector,
  starkKey,
  toHex,
  verify,
} from '@svc/starknet';
import { passkeyEncryptKey } from '../src/keys/cipher.ts';
import { sealKey } from '../src/keys/seal.ts';
import type { Handlers, NodeCall } from './sandbox-service.ts';

const PRIVATE_KEY = 0x1234567890abcdefn;
export const OWNER = starkKey(PRIVATE_KEY);
export const ACCOUNT = accountAddress(currentClassHash('SVC'), OWNER);
export const ENCRYPT_KEY = passkeyEncryptKey(new Uint8Array(32).fill(3));
const USDC = 0x33068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fbn;
const DAI = 0xda1n;
export const PAYMENT_ADDRESS = 0xcafen;
const AT = '2026-11-02T18:20:11.000Z';

export const sku: Sku = {
  id: 'luz',
  providerId: 'p',
  name: 'Luz',
  category: 'LUZ',
  referenceRegexValidation: '^[0-9]{4}$',
  referenceLabel: 'four digits',
  amountRegexValidation: '^[1-9][0-9]{0,3}(\\.[0-9]{1,2})?$',
  amountLabel: 'pesos, at most 9999',
  currency: 'MXN',
  canCheckSkuReference: false,
};

interface Relay {
  readonly hash: string;
  readonly messageHash: bigint;
  readonly execution: OutsideExecution;
  state: 'SUCCEEDED' | 'REVERTED';
}

/** A service and its chain with one wallet. It relays each nonce once, moves money once and counts the payments. */
export class FakePaymentService {
  nowSeconds = 1_793_642_400n;
  balance = 100_000_000n;
  /** Payments received at the payment address. */
  readonly paid: bigint[] = [];
  readonly purchases = new Map<string, Transaction>();
  readonly relays: Relay[] = [];
  sku: Sku = sku;
  usd: number | undefined;
  next: 'executed' | 'reverted' = 'executed';
  /** Number of attempts to record before the chain shows the payment. */
  unseen = 0;
  /** Hash of a fee bump, by the first hash. */
  readonly replacedBy = new Map<string, string>();
  referenceValid = true;
  refusal: ApiError | undefined;
  historyVisible = true;
  readonly spent = new Set<bigint>();

  handlers(origin: () => string): Handlers {
    return {
      getConfig: () => config(origin()),
      getSku: ({ params }) => this.#found(params.id === this.sku.id ? this.sku : undefined, 'sku_not_found'),
      checkSkuReference: () => (this.referenceValid ? { valid: true } : { valid: false, reason: 'no such account' }),
      getUsdAmount: ({ query }) => this.usd ?? Number((Number(query.currencyAmount) / 18.5).toFixed(6)),
      getTokenBalance: () => ({
        chain: 'STARKNET',
        chainToken: 'USDC',
        chainTokenAddress: toHex(USDC),
        decimals: 6,
        balance: String(this.balance),
      }),
      prepareTypedData: ({ body }) => this.#prepare(body as BodyOf<typeof endpoints.prepareTypedData>),
      executeSponsoredTransaction: ({ body }) =>
        this.#execute(body as BodyOf<typeof endpoints.executeSponsoredTransaction>),
      getTransactionStatus: ({ params }) => this.#status(params.hash ?? ''),
      listTransactions: () => this.#history(),
      createSkuPurchase: ({ body }) => this.#record(body as BodyOf<typeof endpoints.createSkuPurchase>),
      getSkuPurchase: ({ params }) => {
        const all = [...this.purchases.values()];
        return this.#found(
          all.find(({ id }) => id === params.id),
          'purchase_not_found',
        );
      },
    };
  }

  nodeChain: bigint = chainIds.SVC_SANDBOX;

  readonly node = ({ method, params }: NodeCall): unknown => {
    if (method === 'starknet_chainId') return toHex(this.nodeChain);
    if (method === 'starknet_getBlockWithTxHashes') return { timestamp: Number(this.nowSeconds), block_hash: '0xb10c' };
    if (method === 'starknet_getTransactionByHash') {
      const relay = this.relays.find(({ hash }) => hash === params.transaction_hash);
      return relay && { calldata: [1n, ACCOUNT, ...encodeOutsideExecution(relay.execution, [1n, 2n])].map(toHex) };
    }
    const { entry_point_selector, calldata } = params.request as { entry_point_selector: string; calldata: string[] };
    if (BigInt(entry_point_selector) !== selector('is_valid_outside_execution_nonce')) return undefined;
    return [this.spent.has(BigInt(calldata[0] ?? 0)) ? '0x0' : '0x1'];
  };

  /** A third party with the signature executes a reverted payment. */
  executeElsewhere(hash: string): void {
    const relay = this.#found(this.relays.at(-1), 'transaction_not_found');
    this.relays.push({ ...relay, hash, state: 'SUCCEEDED' });
    this.#move(relay.execution);
  }

  #prepare({ calls }: BodyOf<typeof endpoints.prepareTypedData>) {
    const execution = {
      caller: ANY_CALLER,
      nonce: BigInt(this.relays.length) + 0x1000n + (this.nowSeconds << 32n),
      executeAfter: this.nowSeconds - 60n,
      executeBefore: this.nowSeconds + 3_540n,
      calls: calls.map(({ contractAddress, entrypoint, calldata }) => ({
        to: BigInt(contractAddress),
        selector: selector(entrypoint),
        calldata: calldata.map(BigInt),
      })),
    };
    return { typedData: outsideExecutionTypedData(execution, chainIds.SVC_SANDBOX), walletType: 'SVC' };
  }

  #execute({ typedData, userSignature }: BodyOf<typeof endpoints.executeSponsoredTransaction>) {
    if (this.refusal) throw this.refusal;
    const parsed = parseOutsideExecutionTypedData(typedData);
    if (!parsed.ok || Array.isArray(userSignature)) throw new ApiError('invalid_typed_data');
    const { execution } = parsed.value;
    if (this.nowSeconds >= execution.executeBefore) throw new ApiError('typed_data_expired');
    const messageHash = outsideExecutionHash(2, execution, ACCOUNT, chainIds.SVC_SANDBOX);
    const { r, s } = userSignature as { r: string; s: string };
    if (!verify(messageHash, OWNER, BigInt(r), BigInt(s))) throw new ApiError('invalid_signature');
    const known = this.relays.find((relay) => relay.messageHash === messageHash);
    if (known) return { transactionHash: known.hash };
    if (this.spent.has(execution.nonce) || amountOf(execution) > this.balance)
      throw new ApiError('transaction_reverted');
    const hash = toHex(0xabc000n + BigInt(this.relays.length));
    const state = this.next === 'executed' ? 'SUCCEEDED' : 'REVERTED';
    this.next = 'executed';
    this.relays.push({ hash, messageHash, execution, state });
    if (state === 'SUCCEEDED') this.#move(execution);
    return { transactionHash: hash };
  }

  #move(execution: OutsideExecution): void {
    this.spent.add(execution.nonce);
    this.balance -= amountOf(execution);
    if (execution.calls[0]?.calldata[0] === PAYMENT_ADDRESS) this.paid.push(amountOf(execution));
  }

  #status(hash: string) {
    const transactionHash = this.replacedBy.get(hash) ?? hash;
    const relay = this.relays.find((one) => one.hash === hash);
    const status = relay ? ({ SUCCEEDED: 'ACCEPTED_ON_L2', REVERTED: 'REVERTED' } as const)[relay.state] : 'RECEIVED';
    return { transactionHash, status };
  }

  #history() {
    const visible = this.historyVisible ? this.relays.filter(({ state }) => state === 'SUCCEEDED').toReversed() : [];
    const data = visible.map(({ hash, execution }) =>
      record({ id: hash, transactionHash: hash, amount: amountOf(execution) }),
    );
    return { data, total: data.length, page: 1, limit: 100, totalPages: 1 };
  }

  #record(body: BodyOf<typeof endpoints.createSkuPurchase>): Transaction {
    const { transactionHash: hash, skuId, skuReference, currencyAmount } = body;
    const relay = this.relays.find((one) => (this.replacedBy.get(one.hash) ?? one.hash) === hash);
    if (this.unseen-- > 0 || !relay) throw new ApiError('transaction_not_found', undefined, { status: 400 });
    if (relay.state === 'REVERTED') throw new ApiError('transaction_reverted');
    const known = this.purchases.get(hash);
    if (known?.skuReference === skuReference) return known;
    if (known) throw new ApiError('transaction_already_used');
    const purchase = {
      ...record({ id: `buy_${this.purchases.size}`, transactionHash: hash, amount: amountOf(relay.execution) }),
      type: 'SKU_PURCHASE' as const,
      skuId,
      skuReference,
      skuPurchaseAmount: currencyAmount,
    };
    this.purchases.set(hash, purchase);
    return purchase;
  }

  #found<T>(value: T | undefined, code: 'sku_not_found' | 'purchase_not_found' | 'transaction_not_found'): T {
    if (value === undefined) throw new ApiError(code);
    return value;
  }
}

export async function sealedWallet() {
  const sealed = await sealKey({ privateKey: PRIVATE_KEY, boundTo: ACCOUNT, encryptKeys: [ENCRYPT_KEY] });
  return { publicKey: toHex(ACCOUNT), encryptedPrivateKey: sealed };
}

const amountOf = ({ calls: [transfer] }: OutsideExecution): bigint => transfer?.calldata[1] ?? 0n;

const config = (origin: string) => ({
  network: 'sandbox',
  chainId: toHex(chainIds.SVC_SANDBOX),
  rpcUrl: `${origin}/rpc`,
  paymentAddress: toHex(PAYMENT_ADDRESS),
  tokens: [
    { chain: 'STARKNET', token: 'USDC', address: toHex(USDC), decimals: 6 },
    { chain: 'STARKNET', token: 'DAI', address: toHex(DAI), decimals: 18 },
  ],
  privateBalance: null,
  walletClasses: [],
});

function record(of: { id: string; transactionHash: string; amount: bigint }): Transaction {
  return {
    ...of,
    amount: String(of.amount),
    type: 'SEND',
    chain: 'STARKNET',
    token: 'USDC',
    senderAddress: toHex(ACCOUNT),
    destinationAddress: toHex(PAYMENT_ADDRESS),
    status: 'PENDING',
    createdAt: AT,
    updatedAt: AT,
    apiPublicKey: 'pk_dev_x',
  };
}
