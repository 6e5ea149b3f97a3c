import { type Static, Type } from 'typebox';
import { environments, redeemStatuses, solanaTransferStatuses } from '../enums.ts';
import { CursorPage, cursorQuery, Felt, Identifier, Nullable, OneOf, Timestamp } from './common.ts';

const ORGANIZATION_ID = 'org_01kxw8yy1c9f4n0v8d2b6h3k5m';
const ACCOUNT = '0x0123f0c1b2a394857667584930a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3';
const HASH = '0x5f3c9a1b7d2e4f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e';
const MOMENT = '2026-11-02T18:20:11.000Z';
const EnvironmentName = OneOf(environments);
const Count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) });

export const accountRoles = ['RELAYER', 'MANAGER', 'PAYMENT'] as const;
export const accountStates = ['OK', 'LOW', 'EMPTY', 'UNRECONCILED', 'NOT_DEPLOYED', 'UNREADABLE'] as const;
export const OperatorAccount = Type.Object(
  {
    environment: EnvironmentName,
    role: OneOf(accountRoles, {
      description: 'RELAYER pays for gas, MANAGER pays gifts and refunds, PAYMENT receives what purchases pay',
    }),
    address: Type.String(),
    state: OneOf(accountStates, { description: 'The worst that holds; UNREADABLE: no node answers' }),
    strk: Nullable(Type.String({ description: 'On chain, in STRK; null where no node answers' })),
    usdc: Nullable(Type.String({ description: 'On chain, in USDC; null where no node answers' })),
    chainNonce: Nullable(Type.String({ description: 'On chain; null where no node answers or nothing is deployed' })),
    nextNonce: Nullable(
      Type.String({ description: 'The next one that this service assigns; null before its first use' }),
    ),
    classHash: Nullable(Type.String()),
    openRelays: Count('Its transactions that are under way'),
    oldestOpenSeconds: Type.Number(),
    unreconciled: Count('Its transactions that the database does not know'),
  },
  {
    title: 'OperatorAccount',
    examples: [
      {
        environment: 'production',
        role: 'MANAGER',
        address: ACCOUNT,
        state: 'OK',
        strk: '812.4',
        usdc: '20340.51',
        chainNonce: '1042',
        nextNonce: '1044',
        classHash: '0x36078334509b514626504edc9fb252328d1a240e4e948bef8d0c08dff45927f',
        openRelays: 2,
        oldestOpenSeconds: 4,
        unreconciled: 0,
      },
    ],
  },
);
export type OperatorAccount = Static<typeof OperatorAccount>;
export const OperatorAccountList = Type.Object({ data: Type.Array(OperatorAccount) }, { title: 'OperatorAccountList' });

export const ReconciledTransaction = Type.Object(
  {
    account: Type.String(),
    nonce: Type.String(),
    hash: Nullable(Type.String({ description: 'null until it was found on the chain' })),
    state: OneOf(['OPEN', 'IMPORTED', 'ACCEPTED']),
    kind: Nullable(Type.String({ description: 'payout, burn or refund' })),
    reason: Nullable(Type.String({ description: 'Why it is open, or was accepted' })),
    payments: Type.Array(
      Type.Object({
        token: Type.String(),
        to: Type.String(),
        amount: Type.String({ description: "In the token's smallest unit" }),
        of: Nullable(Type.String({ description: 'The redeem or purchase that the payment names' })),
      }),
    ),
    foundAt: Nullable(Timestamp()),
  },
  {
    title: 'ReconciledTransaction',
    examples: [
      {
        account: ACCOUNT,
        nonce: '1041',
        hash: HASH,
        state: 'OPEN',
        kind: null,
        reason: 'It is not marked as a payment of this service. Match or accept it.',
        payments: [{ token: ACCOUNT, to: ACCOUNT, amount: '5000000', of: null }],
        foundAt: MOMENT,
      },
    ],
  },
);
export type ReconciledTransaction = Static<typeof ReconciledTransaction>;
export const ReconciledList = Type.Object(
  { open: Count('How many are open'), data: Type.Array(ReconciledTransaction) },
  { title: 'ReconciledList' },
);
export const MatchTransaction = Type.Object(
  {
    hash: Felt('Hash of an open transaction'),
    ids: Type.Array(Identifier('Redeem, gift or purchase'), {
      minItems: 1,
      maxItems: 100,
      description: 'What it paid: one id for each payment',
    }),
  },
  { examples: [{ hash: HASH, ids: ['rdm_01kxw9h4j5k6m7n8p9q0r1s2t3'] }] },
);
const Reason = (description: string) => Type.String({ minLength: 1, maxLength: 500, pattern: '\\S', description });
export const AcceptTransaction = Type.Object(
  {
    account: Felt('Address of the account'),
    nonce: Type.String({ pattern: '^\\d{1,18}$', description: 'Nonce of the open transaction' }),
    reason: Reason('Why it is none of the payments of this service; kept in the audit log'),
  },
  { examples: [{ account: ACCOUNT, nonce: '1041', reason: 'Sent by hand' }] },
);

export const OperatorRelay = Type.Object(
  {
    id: Type.String(),
    environment: EnvironmentName,
    organizationId: Nullable(Type.String()),
    kind: Type.String({ description: 'wallet, calls, upgrade, sweep, payout, burn, refund or gap' }),
    state: OneOf(['STORED', 'SENT']),
    account: Nullable(Type.String({ description: 'null where a paymaster sends it' })),
    nonce: Nullable(Type.String()),
    wallet: Type.String(),
    hash: Nullable(Type.String()),
    attempts: Type.Array(
      Type.Object({
        hash: Type.String(),
        kind: OneOf(['FIRST', 'BUMP', 'FILLER', 'OTHER'], {
          description: 'BUMP: a higher fee. FILLER: only uses the nonce. OTHER: sent by a third party',
        }),
        acceptedAt: Nullable(Timestamp()),
        createdAt: Timestamp(),
      }),
    ),
    refusedSince: Nullable(Timestamp()),
    missingSince: Nullable(Timestamp()),
    createdAt: Timestamp(),
  },
  {
    title: 'OperatorRelay',
    examples: [
      {
        id: 'rly_01kxw9h4j5k6m7n8p9q0r1s2t3',
        environment: 'production',
        organizationId: null,
        kind: 'payout',
        state: 'SENT',
        account: ACCOUNT,
        nonce: '1042',
        wallet: ACCOUNT,
        hash: HASH,
        attempts: [{ hash: HASH, kind: 'FIRST', acceptedAt: MOMENT, createdAt: MOMENT }],
        refusedSince: null,
        missingSince: null,
        createdAt: MOMENT,
      },
    ],
  },
);
export type OperatorRelay = Static<typeof OperatorRelay>;
export const OperatorRelayPage = CursorPage(OperatorRelay, 'OperatorRelayPage');
export const OperatorRelayQuery = Type.Object(cursorQuery);

const stuckFields = {
  id: Type.String(),
  organizationId: Type.String(),
  organizationName: Type.String(),
  environment: EnvironmentName,
};
const STUCK = { organizationId: ORGANIZATION_ID, organizationName: 'Tienda Azul', environment: 'production' };
export const StuckRedeem = Type.Object(
  {
    ...stuckFields,
    giftId: Type.String(),
    status: OneOf(redeemStatuses),
    address: Type.String({ description: 'On Solana' }),
    amountUsd: Type.Number(),
    burnHash: Nullable(Type.String({ description: 'On Starknet' })),
    reason: Nullable(Type.String()),
    burnedAt: Timestamp(),
    createdAt: Timestamp(),
  },
  { title: 'StuckRedeem' },
);
export type StuckRedeem = Static<typeof StuckRedeem>;
export const StuckPurchase = Type.Object(
  {
    ...stuckFields,
    status: OneOf(['PENDING', 'PROCESSING']),
    providerId: Type.String(),
    skuId: Type.String(),
    reference: Type.String(),
    amount: Type.String(),
    currency: Type.String(),
    transactionHash: Nullable(Type.String()),
    paidAt: Nullable(Timestamp()),
    orderedAt: Nullable(Timestamp()),
    acceptedAt: Nullable(Timestamp()),
    createdAt: Timestamp(),
  },
  { title: 'StuckPurchase' },
);
export type StuckPurchase = Static<typeof StuckPurchase>;
export const StuckSolanaTransfer = Type.Object(
  {
    ...stuckFields,
    walletAddress: Type.String({ description: 'On Starknet' }),
    recipient: Type.String({ description: 'On Solana' }),
    amountUsd: Type.Number(),
    burnHash: Nullable(Type.String({ description: 'On Starknet' })),
    reason: Nullable(Type.String()),
    createdAt: Timestamp(),
  },
  { title: 'StuckSolanaTransfer' },
);
export type StuckSolanaTransfer = Static<typeof StuckSolanaTransfer>;
export const Stuck = Type.Object(
  {
    redeems: Type.Array(StuckRedeem, { description: 'Burned on Starknet, not arrived on Solana; 100 at most' }),
    solanaTransfers: Type.Array(StuckSolanaTransfer, {
      description: 'Burned by a wallet, not arrived on Solana; 100 at most',
    }),
    purchases: Type.Array(StuckPurchase, {
      description: 'Open for more than ten minutes, the oldest first; 100 at most',
    }),
  },
  {
    title: 'Stuck',
    examples: [
      {
        redeems: [
          {
            id: 'rdm_01kxw9h4j5k6m7n8p9q0r1s2t3',
            ...STUCK,
            giftId: 'gift_01kxw9h4j5k6m7n8p9q0r1s2t3',
            status: 'FAILED',
            address: '7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv',
            amountUsd: 5,
            burnHash: HASH,
            reason: 'The bridge did not attest it in time.',
            burnedAt: MOMENT,
            createdAt: MOMENT,
          },
        ],
        solanaTransfers: [
          {
            id: 'slt_01kxw9t0v1w2x3y4z5a6b7c8d9',
            ...STUCK,
            walletAddress: '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4',
            recipient: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
            amountUsd: 5,
            burnHash: HASH,
            reason: 'The bridge attested the burn and did not mint.',
            createdAt: MOMENT,
          },
        ],
        purchases: [
          {
            id: 'txn_01kxw9h4j5k6m7n8p9q0r1s2t3',
            ...STUCK,
            status: 'PROCESSING',
            providerId: 'agua-mx',
            skuId: 'agua-municipal',
            reference: '123456789012',
            amount: '350.5',
            currency: 'MXN',
            transactionHash: HASH,
            paidAt: MOMENT,
            orderedAt: MOMENT,
            acceptedAt: null,
            createdAt: MOMENT,
          },
        ],
      },
    ],
  },
);
export type Stuck = Static<typeof Stuck>;
export const RedeemParams = Type.Object({ id: Identifier('Identifier of the redeem') });
export const ResumedRedeem = Type.Object(
  { id: Type.String(), status: OneOf(redeemStatuses) },
  { title: 'ResumedRedeem', examples: [{ id: 'rdm_01kxw9h4j5k6m7n8p9q0r1s2t3', status: 'BRIDGING' }] },
);
export const SolanaTransferParams = Type.Object({ id: Identifier('Identifier of the transfer') });
export const ResumedSolanaTransfer = Type.Object(
  { id: Type.String(), status: OneOf(solanaTransferStatuses) },
  { title: 'ResumedSolanaTransfer', examples: [{ id: 'slt_01kxw9t0v1w2x3y4z5a6b7c8d9', status: 'ATTESTED' }] },
);
export const StuckPurchaseParams = Type.Object({ id: Identifier('Identifier of the purchase') });
export const CompletePurchase = Type.Object(
  { fileNumber: Type.String({ minLength: 1, maxLength: 255, description: "The provider's number of the delivery" }) },
  { examples: [{ fileNumber: 'F-20443' }] },
);
export const FailPurchase = Type.Object(
  { reason: Reason('What the buyer reads; the payment becomes due for refund') },
  { examples: [{ reason: 'The provider has no record of it' }] },
);
export const EndedPurchase = Type.Object(
  { id: Type.String(), status: OneOf(['SUCCESS', 'FAILED', 'CANCELLED']) },
  { title: 'EndedPurchase', examples: [{ id: 'txn_01kxw9h4j5k6m7n8p9q0r1s2t3', status: 'SUCCESS' }] },
);
