import { type Static, Type } from 'typebox';
import {
  currencies,
  onChainTxStatuses,
  refundStatuses,
  txStatuses,
  txSubTypes,
  txTypes,
  walletTypes,
} from '../enums.ts';
import { AddressText, Felt, Identifier, OneOf, Page, pageQuery, Timestamp } from './common.ts';
import { ChainName, ChainTokenName, TypedData, WalletTypeName } from './wallet.ts';

export const CurrencyName = OneOf(currencies);

const text = (description?: string) => Type.Optional(Type.String(description ? { description } : {}));

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
    examples: [
      {
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
      },
    ],
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

export const ExecuteSponsoredTransaction = Type.Object({
  publicKey: AddressText('The wallet that executes the calls'),
  typedData: TypedData,
  userSignature: Type.Union([
    Type.Object({ r: Felt(), s: Felt(), recovery: Type.Optional(Type.Integer()) }),
    Type.Array(Felt(), {
      minItems: 2,
      maxItems: 4,
      description: 'Of the owner [r, s], of a session [sessionKey, r, s, validUntil]',
    }),
  ]),
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
  { title: 'TransactionStatus' },
);

export const SyncOnChain = Type.Object({ walletAddress: AddressText('The wallet to look at') });
export const SyncedOnChain = Type.Object({ synced: Type.Integer(), total: Type.Integer() }, { title: 'SyncedOnChain' });

export const HashOrIdParams = Type.Object({ hashOrId: Identifier('Transaction hash or internal id') });
export const HashParams = Type.Object({ hash: Identifier('Transaction hash') });
