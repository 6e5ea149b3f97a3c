import { type Static, Type } from 'typebox';
import { receiveProofs, solanaTransferStatuses } from '../enums.ts';
import { AddressText, CursorPage, cursorQuery, Identifier, Nullable, OneOf, Timestamp } from './common.ts';
import { Call, UserSignature } from './transaction.ts';
import { TypedData } from './wallet.ts';

const WALLET = '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4';
const RECIPIENT = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const MESSENGER = '0x7d421b9ca8aa32df259965cda8acb93f7599f69209a41872ae84638b2a20f2a';
const USDC = '0x33068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb';

const Usdc = (description: string) => Type.String({ description: `${description}, in USDC` });
const fast = (description: string) => Type.Boolean({ description });

export const QuoteSolanaTransfer = Type.Object(
  {
    publicKey: AddressText('The wallet that pays'),
    recipient: AddressText('A wallet on Solana. It needs no token account: the bridge makes it'),
    amount: Type.String({ minLength: 1, maxLength: 30, description: 'What leaves the wallet, in USDC' }),
    fast: Type.Optional(
      Type.Boolean({ default: true, description: 'In seconds, for a small fee; else in hours, for the mint alone' }),
    ),
  },
  { examples: [{ publicKey: WALLET, recipient: RECIPIENT, amount: '5' }] },
);

export const SolanaTransferQuote = Type.Object(
  {
    recipient: Type.String(),
    amount: Usdc('What leaves the wallet'),
    fee: Usdc('What the bridge takes at present'),
    maxFee: Usdc('What it may take at most: fees can rise until the burn'),
    arrives: Usdc('amount less fee'),
    fast: fast('Whether it takes seconds'),
    estimatedSeconds: Type.Integer(),
    tokenMessenger: Type.String({ description: "The bridge's contract on Starknet" }),
    usdcMint: Type.String({ description: 'The USDC of Solana' }),
    calls: Type.Array(Call, { description: 'Approve, and burn for the recipient' }),
  },
  {
    title: 'SolanaTransferQuote',
    examples: [
      {
        recipient: RECIPIENT,
        amount: '5',
        fee: '0.2007',
        maxFee: '0.3011',
        arrives: '4.7993',
        fast: true,
        estimatedSeconds: 24,
        tokenMessenger: MESSENGER,
        usdcMint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
        calls: [
          { contractAddress: USDC, entrypoint: 'approve', calldata: [MESSENGER, '0x4c4b40', '0x0'] },
          {
            contractAddress: MESSENGER,
            entrypoint: 'deposit_for_burn_with_hook',
            calldata: ['0x4c4b40', '0x0', '0x5'],
          },
        ],
      },
    ],
  },
);
export type SolanaTransferQuote = Static<typeof SolanaTransferQuote>;

export const CreateSolanaTransfer = Type.Object({
  publicKey: AddressText('The wallet that pays'),
  typedData: TypedData,
  userSignature: UserSignature,
});

export const SolanaTransfer = Type.Object(
  {
    id: Type.String(),
    walletAddress: Type.String(),
    recipient: Type.String(),
    amount: Usdc('What left the wallet'),
    maxFee: Usdc('What the bridge may take at most'),
    fee: Nullable(Usdc('What the bridge took')),
    received: Nullable(Usdc('What arrived; null before')),
    fast: fast('Whether it takes seconds'),
    status: OneOf(solanaTransferStatuses, {
      description:
        'PENDING until the burn is on the chain, BRIDGING until it is attested, ATTESTED until it is minted, SUCCESS. FAILED: nothing was burned, the money is in the wallet. STUCK: burned, and not minted in time; the operator sees it, and it goes on from there',
    }),
    reason: Nullable(Type.String({ description: 'Of FAILED and STUCK' })),
    transactionHash: Nullable(Type.String({ description: 'The burn on Starknet' })),
    receiveChainTxHash: Nullable(Type.String({ description: 'The mint on Solana' })),
    receiveProof: Nullable(
      OneOf(receiveProofs, { description: 'Who says that it arrived: a node of Solana, or the bridge alone' }),
    ),
    estimatedSeconds: Type.Integer({ description: 'From the burn on' }),
    createdAt: Timestamp(),
    updatedAt: Timestamp(),
  },
  {
    title: 'SolanaTransfer',
    examples: [
      {
        id: 'slt_01kxw9t0v1w2x3y4z5a6b7c8d9',
        walletAddress: WALLET,
        recipient: RECIPIENT,
        amount: '5',
        maxFee: '0.3011',
        fee: '0.2007',
        received: '4.7993',
        fast: true,
        status: 'SUCCESS',
        reason: null,
        transactionHash: '0x5c1f6d0f6a6c9d7b3e2a1908f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4',
        receiveChainTxHash: '5wHu1qwD7q4bLrWbV7CbKZ2FNVy5zR5CdE5oA7gS5NfT3TzWb3bXqR8pXjQ8qKXyVgHnLdM6tPjW5oS6kZ4nNfQ8',
        receiveProof: 'CHAIN',
        estimatedSeconds: 24,
        createdAt: '2026-11-02T18:21:40.000Z',
        updatedAt: '2026-11-02T18:22:04.000Z',
      },
    ],
  },
);
export type SolanaTransfer = Static<typeof SolanaTransfer>;

export const SolanaTransferParams = Type.Object({ id: Identifier('Identifier of the transfer') });
export const SolanaTransferQuery = Type.Object({ walletAddress: AddressText('The wallet'), ...cursorQuery });
export const SolanaTransferPage = CursorPage(SolanaTransfer, 'SolanaTransferPage');
