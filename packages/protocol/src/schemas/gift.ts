import { type Static, Type } from 'typebox';
import { environments, giftTypes, receiveProofs, redeemChains, redeemStatuses } from '../enums.ts';
import { GIFT_CODE } from '../values/gift-file.ts';
import { Brand } from './branding.ts';
import {
  AddressText,
  CursorPage,
  cursorQuery,
  Identifier,
  Moment,
  Nullable,
  OneOf,
  Page,
  pageQuery,
  Timestamp,
} from './common.ts';

const GiftTypeName = OneOf(giftTypes);
const RedeemStatusName = OneOf(redeemStatuses);
const ReceiveProofName = Nullable(
  OneOf(receiveProofs, {
    description:
      'Who says that the amount arrived on Solana. CHAIN: a node showed the transaction that credits the wallet. BRIDGE: the word of the bridge was taken. Null before, and on Starknet',
  }),
);

/** Six decimals are checked on parsing. */
const GiftAmount = Type.Number({ exclusiveMinimum: 0, maximum: 10_000, description: 'USDC per redemption' });
const GiftCode = Type.String({
  pattern: GIFT_CODE.source,
  description: 'Unique. A random one where none is given',
});
const GiftName = Type.String({ minLength: 1, maxLength: 200 });
const MAX_REDEEMS = 1_000_000;

export const Gift = Type.Object(
  {
    id: Type.String(),
    code: Type.String({
      description:
        'Unique gift code. Empty in production where the public key alone reads gifts, except in the answer that creates one',
    }),
    claimUrl: Type.String({ description: 'Where anyone who has the code redeems it; empty where the code is' }),
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
  currency: Type.Optional(OneOf(['USD'], { description: 'Amounts are dollars; another currency is refused' })),
  token: Type.Optional(OneOf(['USDC'], { default: 'USDC' })),
  chain: Type.Optional(OneOf(['STARKNET'], { default: 'STARKNET' })),
  type: Type.Optional(OneOf(giftTypes, { default: 'GIFT_CARD' })),
  cctpFast: Type.Optional(Type.Boolean({ default: true })),
};

export const CreateGift = Type.Object(
  {
    code: Type.Optional(GiftCode),
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
    Type.Object({
      email: Type.String({ format: 'email', maxLength: 254 }),
      code: Type.Optional(GiftCode),
      language: Type.Optional(OneOf(['en', 'es'], { description: 'Of the mail; left out, it has both' })),
    }),
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
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The id, the beginning of the code or a part of the name, in any case',
    }),
  ),
});

export const RedeemListQuery = Type.Object({
  ...pageQuery,
  giftId: Type.Optional(Identifier('Shows the redemptions of this gift')),
});

export const Campaign = Type.Object(
  {
    name: Type.String({ description: 'The name of the bulk creations that it consists of' }),
    gifts: Type.Integer({ description: 'Without deleted gifts' }),
    activeGifts: Type.Integer({ description: 'Gifts that can be redeemed now' }),
    redeems: Type.Integer({ description: 'Redemptions, those of deleted gifts included' }),
    totalUsd: Type.Number({ description: 'What its gifts pay out when all are redeemed' }),
    redeemedUsd: Type.Number(),
    firstCreatedAt: Timestamp(),
    lastCreatedAt: Timestamp(),
  },
  {
    title: 'Campaign',
    examples: [
      {
        name: 'Navidad 2026',
        gifts: 500,
        activeGifts: 380,
        redeems: 120,
        totalUsd: 2500,
        redeemedUsd: 600,
        firstCreatedAt: '2026-12-01T17:05:12.000Z',
        lastCreatedAt: '2026-12-02T09:41:00.000Z',
      },
    ],
  },
);
export type Campaign = Static<typeof Campaign>;
export const CampaignPage = CursorPage(Campaign, 'CampaignPage');
export const CampaignQuery = Type.Object(cursorQuery);

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
    receiveProof: ReceiveProofName,
    createdAt: Timestamp(),
    updatedAt: Timestamp(),
  },
  { title: 'GiftRedeem' },
);
export type GiftRedeem = Static<typeof GiftRedeem>;
export const GiftRedeemPage = Page(GiftRedeem, 'GiftRedeemPage');

/** On Starknet RESERVED, SENT, PAID; on Solana RESERVED, BURNED, ATTESTED, MINTED. */
const evidenceSteps = ['RESERVED', 'SENT', 'PAID', 'BURNED', 'ATTESTED', 'MINTED'] as const;

const sharedEvidence = {
  id: Type.String(),
  orgName: Type.String(),
  environment: OneOf(environments),
  giftName: Type.String(),
  status: RedeemStatusName,
  destinationChain: OneOf(redeemChains),
  walletAddress: Type.String({ description: 'Who was paid' }),
  amount: Type.String({ description: 'USDC' }),
  bridgeFee: Nullable(Type.String({ description: "The bridge's fee in USDC, once it is known; null on Starknet" })),
  receiveProof: ReceiveProofName,
  steps: Type.Array(
    Type.Object({
      name: OneOf(evidenceSteps),
      state: OneOf(['DONE', 'WAITING', 'FAILED']),
      chain: Nullable(OneOf(redeemChains, { description: 'Where the hash is found' })),
      hash: Nullable(Type.String({ description: "A transaction; of ATTESTED the nonce of the bridge's message" })),
      at: Nullable(Timestamp()),
    }),
    { description: 'In order. After a failed step there is none' },
  ),
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
};
const EVIDENCE = {
  id: 'rdm_01kxw9d5e6f7g8h9j0k1m2n3p4',
  orgName: 'Tienda Azul',
  environment: 'production',
  giftName: 'Navidad 2026',
  status: 'ATTESTED',
  destinationChain: 'solana',
  walletAddress: 'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9',
  amount: '5',
  bridgeFee: '0.000651',
  receiveProof: null,
  steps: [
    { name: 'RESERVED', state: 'DONE', chain: null, hash: null, at: '2026-12-24T18:20:11.000Z' },
    {
      name: 'BURNED',
      state: 'DONE',
      chain: 'starknet',
      hash: '0x05c1f6d0f6a6c9d7b3e2a1908f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4',
      at: '2026-12-24T18:20:14.000Z',
    },
    {
      name: 'ATTESTED',
      state: 'DONE',
      chain: null,
      hash: '0x4a1f09d3c27be58fa36c904df1b2783e5c6a90d4178be23fc5a6d90e4b7c8f12',
      at: '2026-12-24T18:20:29.000Z',
    },
    { name: 'MINTED', state: 'WAITING', chain: 'solana', hash: null, at: null },
  ],
  createdAt: '2026-12-24T18:20:11.000Z',
  updatedAt: '2026-12-24T18:20:29.000Z',
};

export const SharedEvidence = Type.Object(sharedEvidence, { title: 'SharedEvidence', examples: [EVIDENCE] });
export type SharedEvidence = Static<typeof SharedEvidence>;

export const RedeemEvidence = Type.Object(
  {
    ...sharedEvidence,
    giftId: Type.String(),
    feeUsd: Type.Number({ description: 'Credits that the redeem takes besides its amount: gas and the bridge' }),
  },
  {
    title: 'RedeemEvidence',
    examples: [{ ...EVIDENCE, giftId: 'gift_01kxw9c3d4e5f6g7h8j9k0m1n2', feeUsd: 0.010977 }],
  },
);
export type RedeemEvidence = Static<typeof RedeemEvidence>;

export const ShareEvidence = Type.Object(
  { expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })) },
  { examples: [{ expiresInDays: 30 }] },
);
export const EvidenceLink = Type.Object(
  {
    url: Type.String({ description: 'A page that anyone who has the link can read and print' }),
    token: Type.String({ description: 'For GET /evidence/{token}' }),
    expiresAt: Timestamp(),
  },
  {
    title: 'EvidenceLink',
    examples: [
      {
        url: 'https://svc.example/dashboard/evidence/rdm_01kxw9d5e6f7g8h9j0k1m2n3p4.tc9k5c.0.2xqkZ0m5Wb8yJt3nR7vLgA',
        token: 'rdm_01kxw9d5e6f7g8h9j0k1m2n3p4.tc9k5c.2xqkZ0m5Wb8yJt3nR7vLgA',
        expiresAt: '2027-01-23T18:21:00.000Z',
      },
    ],
  },
);
export const EvidenceParams = Type.Object({ token: Identifier('The last part of the link') });

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
        amountMxn: Type.Optional(Type.String({ description: 'About as many pesos; left out while there is no rate' })),
        token: Type.String(),
        chain: Type.String(),
      }),
    ),
    orgName: Type.Optional(Type.String({ description: 'Left out for an unknown code' })),
    brand: Type.Optional(Brand),
    startsAt: Type.Optional(Timestamp()),
    expiresAt: Type.Optional(Nullable(Timestamp())),
    wallet: Type.Optional(
      Type.Object(
        {
          isOffered: Type.Boolean({ description: 'Whether this code can make a wallet that the gift is paid into' }),
          appUrl: Nullable(Type.String({ description: "The organisation's own app, instead" })),
        },
        { description: 'For recipients without a wallet' },
      ),
    ),
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
    receiveProof: ReceiveProofName,
    amount: Type.Number(),
  },
  { title: 'RedeemState' },
);
