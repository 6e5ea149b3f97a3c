import { type Static, Type } from 'typebox';
import { chains, environments, ledgerEntryTypes } from '../enums.ts';
import { AddressText, CursorPage, cursorQuery, Nullable, OneOf, Page, pageQuery, Timestamp } from './common.ts';
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
  },
  { title: 'Config' },
);
