import { type Static, Type } from 'typebox';
import { giftTypes, redeemChains, redeemStatuses } from '../enums.ts';
import { AddressText, Identifier, Moment, Nullable, OneOf, Page, pageQuery, Timestamp } from './common.ts';

const GiftTypeName = OneOf(giftTypes);
const RedeemStatusName = OneOf(redeemStatuses);

/** Six decimals are checked on parsing. */
const GiftAmount = Type.Number({ exclusiveMinimum: 0, maximum: 10_000, description: 'USDC per redemption' });
const GiftCode = Type.String({ pattern: '^[A-Za-z0-9_-]{4,64}$' });
const GiftName = Type.String({ minLength: 1, maxLength: 200 });
const MAX_REDEEMS = 1_000_000;

export const Gift = Type.Object(
  {
    id: Type.String(),
    code: Type.String({ description: 'Unique gift code' }),
    name: Type.String(),
    amount: Type.String({ description: 'USDC amount per redemption' }),
    token: Type.String(),
    chain: Type.String({ description: 'Source chain of credits' }),
    type: GiftTypeName,
    maxRedeems: Type.Integer({ description: 'Total limit across all users' }),
    maxRedeemsPerUser: Type.Integer({ description: 'Limit per wallet address' }),
    totalRedeems: Type.Integer(),
    startsAt: Timestamp(),
    expiresAt: Nullable(Timestamp()),
    isActive: Type.Boolean(),
    cctpFast: Type.Boolean({ description: 'Fast or standard bridge mode for Solana redeems' }),
    holdLedgerEntryId: Nullable(Type.String()),
    totalHeldUsd: Nullable(Type.Number()),
    totalRedeemedUsd: Nullable(Type.Number()),
    recipientEmail: Nullable(Type.String()),
    campaignName: Nullable(Type.String()),
  },
  { title: 'Gift' },
);
export type Gift = Static<typeof Gift>;
export const GiftPage = Page(Gift, 'GiftPage');

const giftChoices = {
  token: Type.Optional(OneOf(['USDC'], { default: 'USDC' })),
  chain: Type.Optional(OneOf(['STARKNET'], { default: 'STARKNET' })),
  type: Type.Optional(OneOf(giftTypes, { default: 'GIFT_CARD' })),
  cctpFast: Type.Optional(Type.Boolean({ default: true })),
};

export const CreateGift = Type.Object(
  {
    code: GiftCode,
    name: GiftName,
    amount: GiftAmount,
    ...giftChoices,
    maxRedeems: Type.Integer({ minimum: 1, maximum: MAX_REDEEMS }),
    maxRedeemsPerUser: Type.Integer({ minimum: 1, maximum: MAX_REDEEMS }),
    startsAt: Moment('When it can be redeemed first'),
    expiresAt: Type.Optional(Nullable(Moment('From when on it cannot be redeemed'))),
    isActive: Type.Boolean(),
  },
  {
    examples: [
      {
        code: 'NAVIDAD2026',
        name: 'Navidad 2026',
        amount: 5,
        maxRedeems: 100,
        maxRedeemsPerUser: 1,
        startsAt: '2026-12-01T00:00:00Z',
        expiresAt: '2027-01-06T00:00:00Z',
        isActive: true,
      },
    ],
  },
);

export const MAX_BULK_RECIPIENTS = 500;
export const CreateGiftsBulk = Type.Object({
  name: GiftName,
  amount: GiftAmount,
  ...giftChoices,
  recipients: Type.Array(
    Type.Object({ email: Type.String({ format: 'email', maxLength: 254 }), code: Type.Optional(GiftCode) }),
    { minItems: 1, maxItems: MAX_BULK_RECIPIENTS },
  ),
});

export const GiftsCreated = Type.Object(
  {
    created: Type.Integer(),
    campaignName: Type.String(),
    totalHeldUsd: Type.Number(),
    gifts: Type.Array(Type.Object({ code: Type.String(), email: Type.String(), claimUrl: Type.String() })),
  },
  { title: 'GiftsCreated' },
);

export const GiftListQuery = Type.Object({
  ...pageQuery,
  isActive: Type.Optional(Type.Boolean()),
  type: Type.Optional(GiftTypeName),
  campaignName: Type.Optional(Type.String({ maxLength: 200 })),
});

export const RedeemListQuery = Type.Object(pageQuery);

export const UpdateGift = Type.Object(
  {
    isActive: Type.Optional(Type.Boolean()),
    name: Type.Optional(GiftName),
    expiresAt: Type.Optional(Nullable(Moment('From when on it cannot be redeemed'))),
  },
  { minProperties: 1, examples: [{ isActive: false }] },
);

export const GiftDeleted = Type.Object(
  { success: Type.Boolean(), releasedUsd: Type.Number() },
  { title: 'GiftDeleted' },
);

export const GiftUsage = Type.Object(
  {
    totalGifts: Type.Integer(),
    activeGifts: Type.Integer(),
    totalRedeems: Type.Integer(),
    totalHeldUsd: Type.Number(),
    totalRedeemedUsd: Type.Number(),
  },
  { title: 'GiftUsage' },
);

export const GiftRedeem = Type.Object(
  {
    id: Type.String(),
    giftId: Type.String(),
    code: Type.String(),
    status: RedeemStatusName,
    destinationChain: OneOf(redeemChains),
    walletAddress: Type.String(),
    amount: Type.String(),
    transactionHash: Nullable(Type.String()),
    cctpBurnTxHash: Nullable(Type.String()),
    receiveChainTxHash: Nullable(Type.String()),
    createdAt: Timestamp(),
    updatedAt: Timestamp(),
  },
  { title: 'GiftRedeem' },
);
export type GiftRedeem = Static<typeof GiftRedeem>;
export const GiftRedeemPage = Page(GiftRedeem, 'GiftRedeemPage');

export const CodeParams = Type.Object({ code: Identifier('The gift code') });
export const RedeemParams = Type.Object({ code: Identifier('The gift code'), redeemId: Identifier('The redeem') });

export const ClaimChallenge = Type.Object(
  {
    challenge: Type.String({ description: 'The salt of the digest, and the first part of the proof' }),
    iterations: Type.Integer({ description: 'Of PBKDF2' }),
    difficulty: Type.Integer({ description: 'Zero bits that the digest begins with' }),
    expiresAt: Timestamp(),
  },
  {
    title: 'ClaimChallenge',
    examples: [
      {
        challenge: '1799193600.10.5f0c2b7e91d84a36b2c7d05e8f1a9463.a41be07c35d29f68e0137bd4c2986f5a',
        iterations: 1_000,
        difficulty: 10,
        expiresAt: '2027-01-06T00:00:00.000Z',
      },
    ],
  },
);

export const Claim = Type.Object(
  {
    valid: Type.Boolean(),
    gift: Type.Optional(
      Type.Object({
        code: Type.String(),
        name: Type.String(),
        amount: Type.String(),
        token: Type.String(),
        chain: Type.String(),
      }),
    ),
    orgName: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String({ description: 'Why the code is not valid' })),
  },
  { title: 'Claim', examples: [{ valid: false, reason: 'Gift not found' }] },
);

export const RedeemGift = Type.Object(
  { walletAddress: AddressText('Where the USDC goes'), chain: OneOf(redeemChains) },
  {
    examples: [
      {
        walletAddress: '0x01a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80',
        chain: 'starknet',
      },
    ],
  },
);

export const RedeemedOnStarknet = Type.Object(
  {
    giftRedeem: Type.Object({
      id: Type.String(),
      status: RedeemStatusName,
      transactionHash: Nullable(Type.String()),
      walletAddress: Type.String(),
      amount: Type.String(),
    }),
  },
  { title: 'RedeemedOnStarknet' },
);

export const RedeemStarted = Type.Object(
  {
    redeemId: Type.String(),
    status: RedeemStatusName,
    destinationChain: OneOf(redeemChains),
    cctpBurnTxHash: Nullable(Type.String()),
    estimatedSeconds: Type.Integer(),
  },
  { title: 'RedeemStarted' },
);

export const RedeemState = Type.Object(
  {
    id: Type.String(),
    status: RedeemStatusName,
    destinationChain: OneOf(redeemChains),
    cctpBurnTxHash: Nullable(Type.String()),
    receiveChainTxHash: Nullable(Type.String()),
    amount: Type.Number(),
  },
  { title: 'RedeemState' },
);
