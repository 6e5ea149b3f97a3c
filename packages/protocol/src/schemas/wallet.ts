import { type Static, Type } from 'typebox';
import { chains, chainTokens, encryptionReplacers, sessionStates, walletTypes } from '../enums.ts';
import {
  AddressText,
  CursorPage,
  cursorQuery,
  ExternalUserId,
  Felt,
  Identifier,
  Nullable,
  OneOf,
  Timestamp,
  timeRangeQuery,
} from './common.ts';

export const ChainName = OneOf(chains);
export const ChainTokenName = OneOf(chainTokens);
export const WalletTypeName = OneOf(walletTypes);

/** An encrypted Starknet key is well under a kilobyte. */
const CIPHERTEXT_LENGTH = 8192;
const Ciphertext = (description: string) => Type.String({ minLength: 1, maxLength: CIPHERTEXT_LENGTH, description });

const walletFields = {
  id: Type.String({ description: 'Internal wallet identifier' }),
  externalUserId: Type.String({ description: "Caller's own user identifier" }),
  organizationId: Type.Optional(Nullable(Type.String({ description: 'Owning organisation' }))),
  apiPublicKey: Type.String({ description: 'Public API key used to create the wallet' }),
  publicKey: Type.String({ description: 'Account contract address' }),
  normalizedPublicKey: Type.String({ description: '0x and 64 lowercase hexadecimal digits' }),
  encryptedPrivateKey: Type.String({ description: "Decryptable only with the user's encryption key" }),
  isDeployed: Type.Boolean({ description: 'Whether the account contract is deployed on-chain' }),
  walletType: WalletTypeName,
  chain: ChainName,
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
};

const ADDRESS = '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4';
const STARK_KEY = '0x1931ee712a85a44664342b7621a4cd0bd4df3fe600e5e4c2b187a2736e9649';
const walletExample = {
  id: 'wal_01kxw8z4f3v5t9q2m7n6p8r0sd',
  externalUserId: 'user-123',
  organizationId: 'org_01kxw8yy1c9f4n0v8d2b6h3k5m',
  apiPublicKey: 'pk_dev_2Jv7mQ4xT9bN1cR6wY3zK8pL5sD0fG2h',
  publicKey: ADDRESS,
  normalizedPublicKey: ADDRESS,
  encryptedPrivateKey: 'svc1.argon2id.…',
  isDeployed: true,
  walletType: 'SVC',
  chain: 'STARKNET',
  createdAt: '2026-11-02T18:20:11.000Z',
  updatedAt: '2026-11-02T18:20:13.000Z',
};

export const Wallet = Type.Object(walletFields, { title: 'Wallet', examples: [walletExample] });
export type Wallet = Static<typeof Wallet>;

export const CreatedWallet = Type.Object(
  {
    ...walletFields,
    classHash: Type.String({ description: 'As last seen on the chain' }),
    success: Type.Boolean(),
    txHash: Type.String(),
    walletPublicKey: Type.String(),
  },
  {
    title: 'CreatedWallet',
    examples: [
      {
        ...walletExample,
        classHash: '0x047d97b5f0cb068ff25cbcb2aaf206f0166edc2ed7c149183a54321602885a88',
        success: true,
        txHash: '0x5c1f…',
        walletPublicKey: ADDRESS,
      },
    ],
  },
);
export type CreatedWallet = Static<typeof CreatedWallet>;

const NewWalletType = Type.Optional(OneOf(walletTypes, { default: 'SVC' }));

/** Passed through; validated on parsing. */
export const TypedData = Type.Record(Type.String(), Type.Unknown(), {
  title: 'TypedData',
  description: 'SNIP-12 typed data (revision 1) of a SNIP-9 version 2 outside execution',
});

export const WalletByUserQuery = Type.Object({ externalUserId: ExternalUserId("Your own user's identifier") });

export const PrepareWalletCreation = Type.Object(
  {
    chain: ChainName,
    publicKey: AddressText('The calculated account contract address'),
    walletType: NewWalletType,
    starkKeyPubAX: Felt('Public key on the Stark curve'),
    classHash: Type.Optional(Felt('A custom account class that is declared and supports SNIP-9')),
  },
  { examples: [{ chain: 'STARKNET', publicKey: ADDRESS, walletType: 'SVC', starkKeyPubAX: STARK_KEY }] },
);

export const PreparedWalletCreation = Type.Object(
  {
    typedData: TypedData,
    accountClassHash: Type.String({
      description: 'The class that the wallet is to have: class_hash of deploymentData',
    }),
  },
  { title: 'PreparedWalletCreation' },
);

const AuthMethod = Type.String({ maxLength: 32 });
const CredentialId = Type.String({ maxLength: 1024 });
const DeviceType = Type.String({ maxLength: 64 });

/** Constructors of known account classes take a few felts. */
const MAX_CALLDATA = 256;
/** Of a wallet that its owner has signed for. */
export const signedWalletFields = {
  publicKey: AddressText('The account contract address'),
  userSignature: Type.Object({ r: Felt(), s: Felt(), recovery: Type.Integer() }),
  typedData: TypedData,
  encryptedPrivateKey: Ciphertext("The private key, encrypted with the user's encryption key"),
  deploymentData: Type.Object({
    class_hash: Felt('accountClassHash of the prepared creation'),
    salt: Felt("The owner's public key"),
    unique: Felt('Must be 0: otherwise the address would depend on who deploys it'),
    calldata: Type.Array(Felt(), {
      maxItems: MAX_CALLDATA,
      description: 'Of the constructor: [public key] for SVC, [0, public key, 1] for READY',
    }),
  }),
};

export const CreateWallet = Type.Object({
  externalUserId: ExternalUserId("Your own user's identifier"),
  walletType: NewWalletType,
  chain: ChainName,
  ...signedWalletFields,
  ifNone: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Create it only if the user has no wallet of this type. Otherwise that one is the answer: compare publicKey',
    }),
  ),
  userId: Type.Optional(Type.String({ maxLength: 256, description: 'A secondary identifier' })),
  encryptedPrivateKeyBackup: Type.Optional(Ciphertext('The same key under a backup secret')),
  authMethod: Type.Optional(AuthMethod),
  credentialId: Type.Optional(CredentialId),
  prfSupported: Type.Optional(Type.Boolean()),
  deviceType: Type.Optional(DeviceType),
});

export const UpdateEncryption = Type.Object(
  {
    externalUserId: ExternalUserId("Your own user's identifier"),
    newEncryptedPrivateKey: Ciphertext('The private key, encrypted anew'),
    publicKey: Type.Optional(AddressText('Required when the user has several wallets')),
    newEncryptedPrivateKeyBackup: Type.Optional(
      Nullable(
        Ciphertext('The same key under a backup secret. Left out, this and what follows stay; null removes them'),
      ),
    ),
    authMethod: Type.Optional(Nullable(AuthMethod)),
    credentialId: Type.Optional(Nullable(CredentialId)),
    prfSupported: Type.Optional(Nullable(Type.Boolean())),
    deviceType: Type.Optional(Nullable(DeviceType)),
  },
  { examples: [{ externalUserId: 'user-123', newEncryptedPrivateKey: 'svc1.argon2id.…' }] },
);

const walletOfUser = {
  externalUserId: ExternalUserId("Your own user's identifier"),
  publicKey: Type.Optional(AddressText('Required when the user has several wallets')),
};

export const EncryptionHistoryQuery = Type.Object(walletOfUser);

export const ReplacedEncryption = Type.Object(
  {
    id: Type.String({ description: 'For restore-encryption' }),
    encryptedPrivateKey: Type.String(),
    encryptedPrivateKeyBackup: Nullable(Type.String()),
    authMethod: Nullable(Type.String()),
    credentialId: Nullable(Type.String()),
    prfSupported: Nullable(Type.Boolean()),
    deviceType: Nullable(Type.String()),
    replacedAt: Timestamp(),
    replacedBy: OneOf(encryptionReplacers, { description: 'The credential of the request that replaced it' }),
    deletedAt: Timestamp(),
  },
  {
    title: 'ReplacedEncryption',
    examples: [
      {
        id: 'enc_01kxw8z4f3v5t9q2m7n6p8r0sd',
        encryptedPrivateKey: 'svc1.argon2id.…',
        encryptedPrivateKeyBackup: null,
        authMethod: 'PIN',
        credentialId: null,
        prfSupported: null,
        deviceType: null,
        replacedAt: '2026-11-02T18:20:11.000Z',
        replacedBy: 'user token',
        deletedAt: '2026-11-09T18:20:11.000Z',
      },
    ],
  },
);
export type ReplacedEncryption = Static<typeof ReplacedEncryption>;

export const EncryptionHistory = Type.Object(
  {
    publicKey: Type.String({ description: "The wallet's address" }),
    data: Type.Array(ReplacedEncryption, { description: 'Newest first' }),
  },
  { title: 'EncryptionHistory' },
);

export const RestoreEncryption = Type.Object(
  { ...walletOfUser, id: Identifier('Of the replaced encryption') },
  { examples: [{ externalUserId: 'user-123', id: 'enc_01kxw8z4f3v5t9q2m7n6p8r0sd' }] },
);

export const EncryptionHistoryPurged = Type.Object(
  { success: Type.Boolean(), deleted: Type.Integer() },
  { title: 'EncryptionHistoryPurged' },
);

export const TokenBalanceQuery = Type.Object({
  chainToken: ChainTokenName,
  chain: ChainName,
  externalUserId: Type.Optional(ExternalUserId('Either this or walletPublicKey')),
  walletPublicKey: Type.Optional(AddressText('Either this or externalUserId')),
});

export const TokenBalance = Type.Object(
  {
    chain: ChainName,
    chainToken: ChainTokenName,
    chainTokenAddress: Type.String(),
    decimals: Type.Integer(),
    balance: Type.String({ description: 'Raw integer; divide by 10^decimals' }),
  },
  {
    title: 'TokenBalance',
    examples: [
      {
        chain: 'STARKNET',
        chainToken: 'USDC',
        chainTokenAddress: '0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb',
        decimals: 6,
        balance: '2500000',
      },
    ],
  },
);

export const CredentialRecovery = Type.Object(
  {
    credentialId: Nullable(Type.String()),
    authMethod: Nullable(Type.String()),
    prfSupported: Nullable(Type.Boolean()),
    deviceType: Nullable(Type.String()),
  },
  { title: 'CredentialRecovery' },
);

export const PrepareWalletUpgrade = Type.Object({
  walletAddress: AddressText('The wallet to upgrade'),
  targetClassHash: Type.Optional(Felt('Default: the latest SVC class')),
});

export const PreparedWalletUpgrade = Type.Object(
  {
    typedData: TypedData,
    currentClassHash: Type.String(),
    targetClassHash: Type.String(),
    currentWalletType: WalletTypeName,
    targetWalletType: WalletTypeName,
  },
  { title: 'PreparedWalletUpgrade' },
);

export const ExecuteWalletUpgrade = Type.Object({
  walletAddress: AddressText('The wallet to upgrade'),
  typedData: TypedData,
  signature: Type.Array(Felt(), { minItems: 2, maxItems: 4 }),
});

export const WalletUpgraded = Type.Object(
  { transactionHash: Type.String(), newClassHash: Type.String(), newWalletType: WalletTypeName },
  { title: 'WalletUpgraded' },
);

const { encryptedPrivateKey: _, ...listedFields } = walletFields;
const { encryptedPrivateKey: __, ...listedExample } = walletExample;

export const ListedWallet = Type.Object(
  {
    ...listedFields,
    classHash: Type.String({ description: 'As last seen on the chain' }),
    transactionHash: Nullable(Type.String({ description: 'Of the deployment' })),
    authMethod: Nullable(Type.String()),
    deviceType: Nullable(Type.String()),
  },
  {
    title: 'ListedWallet',
    description: 'A wallet without its encrypted private key',
    examples: [
      {
        ...listedExample,
        classHash: '0x047d97b5f0cb068ff25cbcb2aaf206f0166edc2ed7c149183a54321602885a88',
        transactionHash: '0x5c1f6d0f6a6c9d7b3e2a1908f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4',
        authMethod: 'PIN',
        deviceType: null,
      },
    ],
  },
);
export type ListedWallet = Static<typeof ListedWallet>;

export const ListedWalletPage = CursorPage(ListedWallet, 'ListedWalletPage');

export const WalletListQuery = Type.Object({
  ...cursorQuery,
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "The beginning of your user's identifier, or an address or id of a wallet",
    }),
  ),
  walletType: Type.Optional(WalletTypeName),
  isDeployed: Type.Optional(Type.Boolean()),
  ...timeRangeQuery,
});

export const WalletIdParams = Type.Object({ id: Identifier('Of the wallet') });

const SpendingPolicyState = Type.Object(
  {
    tokenAddress: Type.String(),
    token: Nullable(ChainTokenName),
    decimals: Nullable(Type.Integer()),
    maxPerCall: Type.String({ description: 'Raw integers, like all amounts here' }),
    maxPerWindow: Type.String(),
    windowSeconds: Type.Integer(),
    spentInWindow: Type.String(),
    windowStartedAt: Nullable(Timestamp()),
  },
  { title: 'SpendingPolicyState' },
);

const SessionState = Type.Object(
  {
    publicKey: Type.String(),
    state: OneOf(sessionStates),
    validUntil: Nullable(Timestamp()),
    maxCalls: Type.Integer(),
    callsUsed: Type.Integer(),
    allowedEntrypoints: Type.Array(Type.Object({ selector: Type.String(), name: Nullable(Type.String()) }), {
      description: 'Empty: all that a session may call',
    }),
    policies: Type.Array(SpendingPolicyState),
  },
  { title: 'SessionState' },
);

const POLICY_EXAMPLE = {
  tokenAddress: '0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb',
  token: 'USDC',
  decimals: 6,
  maxPerCall: '5000000',
  maxPerWindow: '20000000',
  windowSeconds: 86400,
  spentInWindow: '2500000',
  windowStartedAt: '2026-11-02T18:00:00.000Z',
};

export const WalletChainState = Type.Object(
  {
    address: Type.String(),
    isDeployed: Type.Boolean(),
    classHash: Nullable(Type.String({ description: 'Null where no account is deployed' })),
    walletType: Nullable(WalletTypeName),
    isCurrentClass: Type.Boolean({ description: 'False: the wallet can be upgraded' }),
    currentClassHash: Type.String({ description: 'The latest SVC class' }),
    balances: Type.Array(TokenBalance),
    sessions: Type.Array(SessionState, { description: 'Newest first, with revoked ones' }),
    hasAllSessions: Type.Boolean({ description: 'False: the wallet has more sessions than are listed' }),
  },
  {
    title: 'WalletChainState',
    examples: [
      {
        address: ADDRESS,
        isDeployed: true,
        classHash: '0x047d97b5f0cb068ff25cbcb2aaf206f0166edc2ed7c149183a54321602885a88',
        walletType: 'SVC',
        isCurrentClass: true,
        currentClassHash: '0x047d97b5f0cb068ff25cbcb2aaf206f0166edc2ed7c149183a54321602885a88',
        balances: [
          {
            chain: 'STARKNET',
            chainToken: 'USDC',
            chainTokenAddress: POLICY_EXAMPLE.tokenAddress,
            decimals: 6,
            balance: '2500000',
          },
        ],
        sessions: [
          {
            publicKey: STARK_KEY,
            state: 'ACTIVE',
            validUntil: '2026-12-02T18:20:11.000Z',
            maxCalls: 100,
            callsUsed: 3,
            allowedEntrypoints: [
              { selector: '0x83afd3f4caedc6eebf44246fe54e38c95e3179a5ec9ea81740eca5b482d12e', name: 'transfer' },
            ],
            policies: [POLICY_EXAMPLE],
          },
        ],
        hasAllSessions: true,
      },
    ],
  },
);
export type WalletChainState = Static<typeof WalletChainState>;
