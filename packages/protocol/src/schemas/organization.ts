import { type Static, Type } from 'typebox';
import { chains, environments, ledgerEntryTypes, overviewRanges, statusClasses } from '../enums.ts';
import {
  AddressText,
  CursorPage,
  cursorQuery,
  Identifier,
  Nullable,
  OneOf,
  Page,
  pageQuery,
  Timestamp,
} from './common.ts';
import { ChainName, ChainTokenName, WalletTypeName } from './wallet.ts';

export const Balance = Type.Object(
  {
    totalUsd: Type.Number({ description: 'Available and held together' }),
    availableUsd: Type.Number(),
    heldUsd: Type.Number({ description: 'Reserved for gifts that are not redeemed yet' }),
  },
  { title: 'Balance', examples: [{ totalUsd: 10000, availableUsd: 9499, heldUsd: 501 }] },
);

export const Organization = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    environment: OneOf(environments),
    balance: Balance,
    depositAddress: Nullable(
      Type.String({
        description: 'USDC that arrives here on Starknet is credited by itself; null where no deposits are taken',
      }),
    ),
    createdAt: Timestamp(),
  },
  { title: 'Organization' },
);
export type Organization = Static<typeof Organization>;

export const LedgerEntry = Type.Object(
  {
    id: Type.String(),
    type: OneOf(ledgerEntryTypes, { description: 'REVERSAL: the chain removed the transaction of a deposit' }),
    amountUsd: Type.Number({ description: 'Always positive; the type says which way it went' }),
    availableUsd: Type.Number({ description: 'Available credits after this entry' }),
    heldUsd: Type.Number({ description: 'Held credits after this entry' }),
    holdId: Nullable(Type.String({ description: 'The hold that this entry took, settled or released' })),
    reference: Nullable(Type.String({ description: 'What caused it: a gift, a redeem, a transaction hash' })),
    createdAt: Timestamp(),
  },
  { title: 'LedgerEntry' },
);
export type LedgerEntry = Static<typeof LedgerEntry>;
export const LedgerPage = Page(LedgerEntry, 'LedgerPage');
export const LedgerQuery = Type.Object(pageQuery);

export const Hold = Type.Object(
  {
    id: Type.String(),
    amountUsd: Type.Number({ description: 'What was held at first' }),
    settledUsd: Type.Number({ description: 'Spent of it, by redeems' }),
    releasedUsd: Type.Number({ description: 'Given back' }),
    heldUsd: Type.Number({ description: 'What is still held' }),
    giftId: Nullable(Type.String({ description: 'What it is held for' })),
    giftName: Nullable(Type.String()),
    redeemId: Nullable(Type.String({ description: 'Set for the hold of one redeem, paid after it had failed' })),
    createdAt: Timestamp(),
  },
  {
    title: 'Hold',
    examples: [
      {
        id: 'led_01kxw9e7f8g9h0j1k2m3n4p5q6',
        amountUsd: 501,
        settledUsd: 100.2,
        releasedUsd: 0,
        heldUsd: 400.8,
        giftId: 'gift_01kxw9c3d4e5f6g7h8j9k0m1n2',
        giftName: 'Navidad 2026',
        redeemId: null,
        createdAt: '2026-12-01T17:05:12.000Z',
      },
    ],
  },
);
export type Hold = Static<typeof Hold>;
export const HoldPage = CursorPage(Hold, 'HoldPage');
export const HoldQuery = Type.Object(cursorQuery);

export const CreateDeposit = Type.Object({
  transactionHash: AddressText('A USDC transfer to your deposit address'),
  chain: ChainName,
});

export const PrivateBalanceTerms = Type.Object(
  {
    pool: Type.String({ description: 'The contract' }),
    token: ChainTokenName,
    tokenAddress: Type.String(),
    fee: Type.String({ description: 'Of an operation, in FRI (10^-18 STRK); shields of one transaction pay once' }),
    feePayment: Nullable(
      Type.Object(
        { entrypoint: OneOf(['approve', 'transfer']), to: Type.String() },
        {
          description:
            'The call of the STRK contract, with address and fee, that goes before an operation; null where none is needed',
        },
      ),
    ),
    shieldPaused: Type.Boolean(),
    lagBlocks: Type.Integer({ description: "An account's next operation waits for so many blocks and one more" }),
  },
  {
    title: 'PrivateBalanceTerms',
    examples: [
      {
        pool: '0x0415f2c3b16cc43856a0434ed151888a5797b6a22492ea6fd41c62dbb4df4e6c',
        token: 'USDC',
        tokenAddress: '0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb',
        fee: '4000000000000000000',
        feePayment: {
          entrypoint: 'transfer',
          to: '0x01a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80',
        },
        shieldPaused: true,
        lagBlocks: 12,
      },
    ],
  },
);

export const Config = Type.Object(
  {
    network: Type.String(),
    chainId: Type.String(),
    rpcUrl: Type.String(),
    paymentAddress: Type.String(),
    tokens: Type.Array(
      Type.Object({
        chain: OneOf(chains),
        token: ChainTokenName,
        address: Nullable(Type.String()),
        decimals: Type.Integer(),
      }),
    ),
    walletClasses: Type.Array(
      Type.Object({ walletType: WalletTypeName, classHash: Type.String(), current: Type.Boolean() }),
    ),
    privateBalance: Nullable(PrivateBalanceTerms),
  },
  { title: 'Config' },
);

const activityFields = {
  wallets: Type.Integer(),
  transactions: Type.Integer(),
  failedTransactions: Type.Integer(),
  giftsRedeemed: Type.Integer(),
  giftsRedeemedUsd: Type.Number(),
  purchases: Type.Integer({ description: 'Completed ones' }),
  purchasesUsd: Type.Number(),
  gasFri: Type.String({ description: 'Paid for your users, in FRI (10^-18 STRK)' }),
};

const activityExample = {
  wallets: 12,
  transactions: 40,
  failedTransactions: 1,
  giftsRedeemed: 9,
  giftsRedeemedUsd: 45,
  purchases: 3,
  purchasesUsd: 27.5,
  gasFri: '120400000000000000',
};

const Activity = Type.Object(activityFields, { title: 'Activity', examples: [activityExample] });
const ActivityBucket = Type.Object(
  { startsAt: Timestamp(), ...activityFields },
  { title: 'ActivityBucket', examples: [{ startsAt: '2026-11-02T18:00:00.000Z', ...activityExample }] },
);

export const OverviewQuery = Type.Object({ range: Type.Optional(OneOf(overviewRanges, { default: '24h' })) });

export const Overview = Type.Object(
  {
    range: OneOf(overviewRanges),
    from: Timestamp(),
    to: Timestamp(),
    bucketSeconds: Type.Integer(),
    balance: Balance,
    totals: Activity,
    previousTotals: Activity,
    series: Type.Array(ActivityBucket, { description: 'Oldest first, without gaps' }),
    checklist: Type.Object(
      {
        wallet: Type.Boolean(),
        transfer: Type.Boolean(),
        gift: Type.Boolean(),
        webhook: Type.Boolean(),
        keySet: Type.Boolean(),
      },
      { title: 'Checklist', description: 'What the environment has already' },
    ),
  },
  { title: 'Overview' },
);
export type Overview = Static<typeof Overview>;

export const LoggedRequest = Type.Object(
  {
    id: Type.String(),
    at: Timestamp(),
    method: Type.String(),
    path: Type.String({ description: 'The pattern, without values' }),
    status: Type.Integer(),
    durationMs: Type.Number(),
    requestId: Type.String({ description: 'x-request-id of the answer' }),
    errorCode: Nullable(Type.String()),
    actor: Type.String({ description: 'The id of the key or member' }),
    ignoredFields: Type.Array(Type.String(), { description: 'Fields of the body that the endpoint does not know' }),
  },
  {
    title: 'LoggedRequest',
    examples: [
      {
        id: '48151623',
        at: '2026-11-02T18:21:40.000Z',
        method: 'POST',
        path: '/gifts',
        status: 400,
        durationMs: 3.2,
        requestId: '5f0c3a52-3a0e-4f1c-9a53-5d8ef3a7a0b1',
        errorCode: 'insufficient_credits',
        actor: 'key_01kxw9h4j5k6m7n8p9q0r1s2t3',
        ignoredFields: [],
      },
    ],
  },
);
export type LoggedRequest = Static<typeof LoggedRequest>;

export const LoggedRequestPage = CursorPage(LoggedRequest, 'LoggedRequestPage');

export const LoggedRequestsQuery = Type.Object({
  ...cursorQuery,
  status: Type.Optional(OneOf(statusClasses)),
  method: Type.Optional(OneOf(['GET', 'POST', 'PATCH', 'DELETE'] as const)),
  path: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'A pattern, such as /gifts/{id}' })),
  errorCode: Type.Optional(Identifier('A code of the catalogue')),
  requestId: Type.Optional(Identifier('x-request-id of an answer')),
});
