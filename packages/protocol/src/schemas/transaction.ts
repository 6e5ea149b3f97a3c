import { type Static, Type } from 'typebox';
import {
  attemptKinds,
  attemptStates,
  currencies,
  onChainTxStatuses,
  refundStatuses,
  relayStates,
  txStatuses,
  txSubTypes,
  txTypes,
  walletTypes,
} from '../enums.ts';
import {
  AddressText,
  CursorPage,
  cursorQuery,
  ExternalUserId,
  Felt,
  Identifier,
  Nullable,
  OneOf,
  Page,
  pageQuery,
  Timestamp,
  timeRangeQuery,
} from './common.ts';
import { ChainName, ChainTokenName, TypedData, WalletTypeName } from './wallet.ts';

export const CurrencyName = OneOf(currencies);

const text = (description?: string) => Type.Optional(Type.String(description ? { description } : {}));

const transactionExample = {
  id: 'txn_01kxw9a0b1c2d3e4f5g6h7j8k9',
  type: 'SEND',
  subType: 'TRANSFER',
  chain: 'STARKNET',
  transactionHash: '0x5c1f6d0f6a6c9d7b3e2a1908f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4',
  senderAddress: '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4',
  destinationAddress: '0x01a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80',
  functionName: 'transfer',
  token: 'USDC',
  amount: '2500000',
  status: 'SUCCESS',
  createdAt: '2026-11-02T18:21:40.000Z',
  confirmedAt: '2026-11-02T18:21:43.000Z',
  updatedAt: '2026-11-02T18:21:43.000Z',
  apiPublicKey: 'pk_dev_2Jv7mQ4xT9bN1cR6wY3zK8pL5sD0fG2h',
};

export const Transaction = Type.Object(
  {
    id: Type.String({ description: 'Unique transaction identifier' }),
    type: Type.Optional(OneOf(txTypes)),
    subType: Type.Optional(OneOf(txSubTypes)),
    chain: ChainName,
    transactionHash: Type.String(),
    senderAddress: Type.String(),
    destinationAddress: Type.String(),
    contractAddress: text('Contract called'),
    contractName: text(),
    functionName: text('Contract function called'),
    functionSelector: text(),
    token: Type.Optional(ChainTokenName),
    tokenAddress: text('Token contract address'),
    amount: text('Raw integer amount; divide by 10^decimals'),
    skuId: text('Set when the transaction is a service purchase'),
    skuReference: text('Reference given for the purchase'),
    skuPurchaseAmount: Type.Optional(Type.Number({ description: 'Amount in local currency' })),
    skuPurchaseCurrency: Type.Optional(CurrencyName),
    skuFileNumber: text('File number from the service provider'),
    failureReason: text('Why a purchase failed'),
    refundStatus: Type.Optional(
      OneOf(refundStatuses, { description: 'Of a purchase whose payment is to be given back' }),
    ),
    refundTransactionHash: text('The transfer that gave the payment back'),
    status: OneOf(txStatuses),
    createdAt: Timestamp(),
    confirmedAt: Type.Optional(Timestamp()),
    updatedAt: Timestamp(),
    apiPublicKey: Type.String({ description: 'API key that created it' }),
    svcWalletId: text('Internal wallet id of the sender'),
    destinationSvcWalletId: text('Internal wallet id of the recipient, when it is also a wallet of the service'),
  },
  {
    title: 'Transaction',
    examples: [transactionExample],
  },
);
export type Transaction = Static<typeof Transaction>;

export const TransactionPage = Page(Transaction, 'TransactionPage');

export const RecordSend = Type.Object({
  transactionHash: AddressText('On-chain hash of the transfer'),
  expectedSender: AddressText('Sending wallet'),
  expectedRecipient: AddressText('Receiving address'),
  expectedToken: ChainTokenName,
  expectedAmount: Type.String({ minLength: 1, maxLength: 98, description: 'Human-readable decimal amount' }),
  chain: ChainName,
});

/** Four digits keep date arithmetic in bounds. */
const YEARS = { minimum: 2000, maximum: 9999 };
export const TransactionListQuery = Type.Object({
  walletAddress: AddressText('Whose transactions, sent and received'),
  ...pageQuery,
  calledFunction: Type.Optional(Type.String({ maxLength: 128, description: 'Contract function name' })),
  day: Type.Optional(Type.Integer({ minimum: 1, maximum: 31 })),
  month: Type.Optional(Type.Integer({ minimum: 1, maximum: 12 })),
  year: Type.Optional(Type.Integer(YEARS)),
});

/** The calldata of all calls must fit one Starknet transaction. */
const MAX_CALLS = 64;
const MAX_CALLDATA = 4096;
export const Call = Type.Object(
  {
    contractAddress: AddressText('The contract to call'),
    entrypoint: Type.String({ minLength: 1, maxLength: 128, description: 'A function name, or a selector (0x…)' }),
    calldata: Type.Array(Felt(), { maxItems: MAX_CALLDATA, description: 'Hexadecimal or decimal strings' }),
  },
  { title: 'Call' },
);

const SaidWalletType = Type.Optional(
  OneOf(walletTypes, { description: 'What you take the wallet to be; refused when it is not' }),
);

export const PrepareTypedData = Type.Object({
  publicKey: AddressText('The wallet that will execute the calls'),
  calls: Type.Array(Call, { minItems: 1, maxItems: MAX_CALLS }),
  accountClassHash: Type.Optional(Felt('The class that you take the wallet to have; refused when it has another')),
  walletType: SaidWalletType,
});

export const PreparedTypedData = Type.Object(
  { typedData: TypedData, walletType: WalletTypeName },
  { title: 'PreparedTypedData' },
);

export const UserSignature = Type.Union([
  Type.Object({ r: Felt(), s: Felt(), recovery: Type.Optional(Type.Integer()) }),
  Type.Array(Felt(), {
    minItems: 2,
    maxItems: 4,
    description: 'Of the owner [r, s], of a session [sessionKey, r, s, validUntil]',
  }),
]);

export const ExecuteSponsoredTransaction = Type.Object({
  publicKey: AddressText('The wallet that executes the calls'),
  typedData: TypedData,
  userSignature: UserSignature,
  saveToDatabase: Type.Optional(Type.Boolean({ default: true, description: 'Whether the history keeps the calls' })),
  walletType: SaidWalletType,
  isSessionSignature: Type.Optional(
    Type.Boolean({ description: 'Whether a session signed; refused when userSignature says otherwise' }),
  ),
});

export const TransactionHash = Type.Object({ transactionHash: Type.String() }, { title: 'TransactionHash' });

export const TransactionStatus = Type.Object(
  {
    transactionHash: Type.String(),
    status: OneOf(onChainTxStatuses),
    blockNumber: Type.Optional(Type.Integer()),
    revertReason: Type.Optional(Type.String()),
  },
  { title: 'OnChainStatus' },
);

export const SyncOnChain = Type.Object({ walletAddress: AddressText('The wallet to look at') });
export const SyncedOnChain = Type.Object({ synced: Type.Integer(), total: Type.Integer() }, { title: 'SyncedOnChain' });

export const HashOrIdParams = Type.Object({ hashOrId: Identifier('Transaction hash or internal id') });
export const HashParams = Type.Object({ hash: Identifier('Transaction hash') });

export const EnvironmentTransactionsQuery = Type.Object({
  ...cursorQuery,
  search: Type.Optional(Identifier('A hash or an id of a transaction')),
  type: Type.Optional(OneOf(txTypes)),
  status: Type.Optional(OneOf(txStatuses)),
  token: Type.Optional(ChainTokenName),
  walletAddress: Type.Optional(AddressText('Sent or received by this address')),
  externalUserId: Type.Optional(ExternalUserId('Sent or received by a wallet of this user')),
  skuId: Type.Optional(Identifier('Purchases of this service')),
  ...timeRangeQuery,
});

export const EnvironmentTransactionPage = CursorPage(Transaction, 'EnvironmentTransactionPage');

const DecodedValue = Type.Object({ name: Type.String(), value: Type.String() }, { title: 'DecodedValue' });

const ExecutedCall = Type.Object(
  {
    caller: Type.String({ description: 'The account that calls' }),
    contractAddress: Type.String(),
    token: Nullable(ChainTokenName),
    decimals: Nullable(Type.Integer({ description: 'Of the token' })),
    functionName: Nullable(Type.String()),
    functionSelector: Type.String(),
    calldata: Type.Array(Type.String()),
    arguments: Nullable(Type.Array(DecodedValue, { description: 'Null where the function is not known' })),
  },
  { title: 'ExecutedCall' },
);

const EmittedEvent = Type.Object(
  {
    index: Type.Integer(),
    contractAddress: Type.String(),
    token: Nullable(ChainTokenName),
    decimals: Nullable(Type.Integer({ description: 'Of the token' })),
    name: Nullable(Type.String()),
    keys: Type.Array(Type.String()),
    data: Type.Array(Type.String()),
    values: Nullable(Type.Array(DecodedValue, { description: 'Null where the event is not known' })),
  },
  { title: 'EmittedEvent' },
);

const RelayAttempt = Type.Object(
  {
    transactionHash: Type.String(),
    kind: OneOf(attemptKinds),
    state: OneOf(attemptStates),
    maxFee: Nullable(Type.String({ description: 'The signed bound, in FRI' })),
    signedAt: Timestamp(),
    sentAt: Nullable(Timestamp()),
  },
  { title: 'RelayAttempt' },
);

const TransactionRelay = Type.Object(
  {
    id: Type.String(),
    state: OneOf(relayStates),
    account: Nullable(Type.String({ description: 'Pays the gas; null where a paymaster does' })),
    nonce: Nullable(Type.String()),
    attempts: Type.Array(RelayAttempt, { description: 'Oldest first; the chain takes one at most' }),
  },
  { title: 'TransactionRelay' },
);

const HASH = '0x5c1f6d0f6a6c9d7b3e2a1908f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4';
const SENDER = '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4';
const RECIPIENT = '0x01a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80';
const USDC_EXAMPLE = {
  contractAddress: '0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb',
  token: 'USDC',
  decimals: 6,
};

export const TransactionDetails = Type.Object(
  {
    transaction: Transaction,
    records: Type.Array(Transaction, { description: 'All of yours with this hash: one for each call and transfer' }),
    status: Nullable(OneOf(onChainTxStatuses, { description: 'Null where the chain could not be asked' })),
    blockNumber: Nullable(Type.Integer()),
    revertReason: Nullable(Type.String()),
    fee: Nullable(Type.String({ description: 'What was paid, in FRI (10^-18 STRK)' })),
    feePayer: Nullable(Type.String()),
    calls: Type.Array(ExecutedCall),
    events: Type.Array(EmittedEvent),
    hasAllEvents: Type.Boolean(),
    relay: Nullable(TransactionRelay),
  },
  {
    title: 'TransactionDetails',
    examples: [
      {
        transaction: transactionExample,
        records: [transactionExample],
        status: 'ACCEPTED_ON_L2',
        blockNumber: 1042,
        revertReason: null,
        fee: '1204000000000000',
        feePayer: RECIPIENT,
        calls: [
          {
            caller: SENDER,
            ...USDC_EXAMPLE,
            functionName: 'transfer',
            functionSelector: '0x83afd3f4caedc6eebf44246fe54e38c95e3179a5ec9ea81740eca5b482d12e',
            calldata: [RECIPIENT, '0x2625a0', '0x0'],
            arguments: [
              { name: 'recipient', value: RECIPIENT },
              { name: 'amount', value: '2500000' },
            ],
          },
        ],
        events: [],
        hasAllEvents: true,
        relay: {
          id: 'rly_01kxw9a0b1c2d3e4f5g6h7j8k9',
          state: 'SUCCEEDED',
          account: RECIPIENT,
          nonce: '41',
          attempts: [
            {
              transactionHash: HASH,
              kind: 'FIRST',
              state: 'SUCCEEDED',
              maxFee: '1806000000000000',
              signedAt: '2026-11-02T18:21:40.000Z',
              sentAt: '2026-11-02T18:21:40.200Z',
            },
          ],
        },
      },
    ],
  },
);
export type TransactionDetails = Static<typeof TransactionDetails>;
