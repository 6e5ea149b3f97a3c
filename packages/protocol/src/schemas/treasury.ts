import { type Static, Type } from 'typebox';
import { proposalKinds, proposalStates } from '../enums.ts';
import {
  AddressText,
  CursorPage,
  cursorQuery,
  Felt,
  Identifier,
  Moment,
  Nullable,
  OneOf,
  Timestamp,
} from './common.ts';
import { Call } from './transaction.ts';
import { ChainName, ChainTokenName, TypedData } from './wallet.ts';

const MAX_SIGNERS = 20;
const MAX_LIMITS = 10;
const MAX_TRANSFERS = 64;
/** A year. */
const MAX_WINDOW_SECONDS = 366 * 86_400;

const SIGNER_KEY = '0x1931ee712a85a44664342b7621a4cd0bd4df3fe600e5e4c2b187a2736e9649';
const SECOND_KEY = '0x4d6b6f0e0a1b1c9c6a5a4b2d1f0e9c8b7a695847362514f3e2d1c0bfae9d8c7';
const TREASURY_ID = 'trs_01kxw9r8s9t0v1w2x3y4z5a6b7';
const PROPOSAL_ID = 'tpr_01kxw9s9t0v1w2x3y4z5a6b7c8';

const signers = [
  { name: 'Ana', publicKey: SIGNER_KEY, email: 'ana@example.com' },
  { name: 'Luis', publicKey: SECOND_KEY, email: null },
];
const limit = { token: 'USDC', threshold: 1, amount: '500', windowSeconds: 86_400 };

const signerName = Type.String({ minLength: 1, maxLength: 100 });
const email = Type.String({ minLength: 3, maxLength: 254, description: 'Is told of new proposals' });

export const NewTreasurySigner = Type.Object(
  { name: signerName, publicKey: Felt('Stark public key'), email: Type.Optional(Nullable(email)) },
  { title: 'NewTreasurySigner' },
);
export const TreasurySigner = Type.Object(
  { name: Type.String(), publicKey: Type.String(), email: Nullable(Type.String()) },
  { title: 'TreasurySigner' },
);
export type TreasurySigner = Static<typeof TreasurySigner>;

export const TreasuryLimit = Type.Object(
  {
    token: ChainTokenName,
    threshold: Type.Integer({ minimum: 1, maximum: MAX_SIGNERS - 1, description: 'How many signers are enough' }),
    amount: Type.String({ minLength: 1, maxLength: 80, description: 'Decimal; transfers of a window together' }),
    windowSeconds: Type.Integer({ minimum: 60, maximum: MAX_WINDOW_SECONDS }),
  },
  { title: 'TreasuryLimit', examples: [limit] },
);
export type TreasuryLimit = Static<typeof TreasuryLimit>;

const threshold = Type.Integer({ minimum: 1, maximum: MAX_SIGNERS, description: 'How many signers approve' });
const newSigners = Type.Array(NewTreasurySigner, { minItems: 1, maxItems: MAX_SIGNERS });
const limits = Type.Array(TreasuryLimit, {
  maxItems: MAX_LIMITS,
  description: 'Transfers of a token that fewer signers approve, up to an amount in a window',
});

export const CreateTreasury = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    signers: newSigners,
    threshold,
    limits: Type.Optional(limits),
  },
  { examples: [{ name: 'Caja', signers, threshold: 2, limits: [limit] }] },
);

const policyFields = {
  threshold: Type.Integer(),
  signers: Type.Array(TreasurySigner),
  limits: Type.Array(TreasuryLimit),
};

export const Treasury = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    chain: ChainName,
    address: Type.String(),
    classHash: Type.String(),
    isDeployed: Type.Boolean({ description: 'An address takes money before its contract is deployed' }),
    ...policyFields,
    createdAt: Timestamp(),
    updatedAt: Timestamp(),
  },
  {
    title: 'Treasury',
    examples: [
      {
        id: TREASURY_ID,
        name: 'Caja',
        chain: 'STARKNET',
        address: '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4',
        classHash: '0x5e45eea0d1ff2503fa5f0179a809718cf6948368a6800682284edc94b1afb61',
        isDeployed: true,
        threshold: 2,
        signers,
        limits: [limit],
        createdAt: '2026-11-02T18:20:11.000Z',
        updatedAt: '2026-11-02T18:20:14.000Z',
      },
    ],
  },
);
export type Treasury = Static<typeof Treasury>;
export const TreasuryPage = CursorPage(Treasury, 'TreasuryPage');
export const TreasuryQuery = Type.Object(cursorQuery);
export const TreasuryParams = Type.Object({ id: Identifier('Identifier of the treasury') });

export const TreasuryPolicy = Type.Object(
  { ...policyFields, openProposalId: Nullable(Type.String({ description: 'An open proposal of another policy' })) },
  { title: 'TreasuryPolicy', examples: [{ threshold: 2, signers, limits: [limit], openProposalId: null }] },
);
export type TreasuryPolicy = Static<typeof TreasuryPolicy>;

const description = Type.String({ maxLength: 500, description: 'For people; it is not signed' });
const expiresAt = Moment('At most 30 days ahead, by default 7 days');

export const ChangeTreasuryPolicy = Type.Object(
  {
    signers: Type.Optional(newSigners),
    threshold: Type.Optional(threshold),
    limits: Type.Optional(limits),
    description: Type.Optional(description),
    expiresAt: Type.Optional(expiresAt),
  },
  { minProperties: 1, examples: [{ threshold: 1 }] },
);

export const TreasuryTransfer = Type.Object(
  {
    token: ChainTokenName,
    recipient: AddressText('Who is paid'),
    amount: Type.String({ minLength: 1, maxLength: 98, description: 'Decimal' }),
  },
  { title: 'TreasuryTransfer' },
);

export const CreateTreasuryProposal = Type.Object(
  {
    transfers: Type.Optional(Type.Array(TreasuryTransfer, { minItems: 1, maxItems: MAX_TRANSFERS })),
    calls: Type.Optional(Type.Array(Call, { minItems: 1, maxItems: MAX_TRANSFERS })),
    description: Type.Optional(description),
    expiresAt: Type.Optional(expiresAt),
    replaces: Type.Optional(Identifier('An open proposal that this one replaces: of the two at most one is executed')),
  },
  {
    description: 'Either transfers or calls',
    examples: [
      {
        transfers: [
          {
            token: 'USDC',
            recipient: '0x01a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80',
            amount: '250',
          },
        ],
        description: 'Renta de noviembre',
      },
    ],
  },
);

const ProposalSignature = Type.Object(
  { publicKey: Type.String(), name: Type.String(), signedAt: Timestamp() },
  { title: 'ProposalSignature' },
);

export const TreasuryProposal = Type.Object(
  {
    id: Type.String(),
    treasuryId: Type.String(),
    kind: OneOf(proposalKinds),
    state: OneOf(proposalStates),
    description: Type.String(),
    calls: Type.Array(Call, { description: 'Entrypoints as selectors: exactly what is signed' }),
    typedData: TypedData,
    messageHash: Type.String(),
    requiredSignatures: Type.Integer(),
    signatures: Type.Array(ProposalSignature, { description: 'Of current signers' }),
    proposedBy: Type.String({ description: 'E-mail address of a member, or the id of a key' }),
    expiresAt: Timestamp(),
    replaces: Nullable(Type.String()),
    replacedBy: Nullable(Type.String()),
    transactionHash: Nullable(Type.String({ description: 'The latest that was sent' })),
    executedTxHash: Nullable(Type.String({ description: 'Wait for its receipt' })),
    failureReason: Nullable(Type.String()),
    createdAt: Timestamp(),
    updatedAt: Timestamp(),
  },
  {
    title: 'TreasuryProposal',
    examples: [
      {
        id: PROPOSAL_ID,
        treasuryId: TREASURY_ID,
        kind: 'TRANSFERS',
        state: 'PENDING',
        description: 'Renta de noviembre',
        calls: [
          {
            contractAddress: '0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb',
            entrypoint: '0x83afd3f4caedc6eebf44246fe54e38c95e3179a5ec9ea81740eca5b482d12e',
            calldata: ['0x1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80', '0xee6b280', '0x0'],
          },
        ],
        typedData: { primaryType: 'OutsideExecution', '…': 'domain, message and types, shortened here' },
        messageHash: '0x05c1f6d0f6a6c9d7b3e2a1908f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4',
        requiredSignatures: 2,
        signatures: [{ publicKey: SIGNER_KEY, name: 'Ana', signedAt: '2026-11-02T18:22:40.000Z' }],
        proposedBy: 'ana@example.com',
        expiresAt: '2026-11-09T18:21:40.000Z',
        replaces: null,
        replacedBy: null,
        transactionHash: null,
        executedTxHash: null,
        failureReason: null,
        createdAt: '2026-11-02T18:21:40.000Z',
        updatedAt: '2026-11-02T18:22:40.000Z',
      },
    ],
  },
);
export type TreasuryProposal = Static<typeof TreasuryProposal>;
export const TreasuryProposalPage = CursorPage(TreasuryProposal, 'TreasuryProposalPage');
export const TreasuryProposalQuery = Type.Object({ ...cursorQuery, state: Type.Optional(OneOf(proposalStates)) });
export const TreasuryProposalParams = Type.Object({
  id: Identifier('Identifier of the treasury'),
  proposalId: Identifier('Identifier of the proposal'),
});

export const SignTreasuryProposal = Type.Object(
  {
    publicKey: Felt('Of the signer'),
    signature: Type.Union([
      Type.Object({ r: Felt(), s: Felt(), recovery: Type.Optional(Type.Integer()) }),
      Type.Array(Felt(), { minItems: 2, maxItems: 2, description: '[r, s]' }),
    ]),
  },
  {
    examples: [
      {
        publicKey: SIGNER_KEY,
        signature: ['0x01f3c9a27b5d8e604c13a7f2905be6d48c71f03a', '0x06b2d84f1e73a95c20d6f84b3170c9ea52d8f4613b'],
      },
    ],
  },
);
