import { type Static, Type } from 'typebox';
import { environments } from '../enums.ts';
import { Brand } from './branding.ts';
import { AddressText, Felt, Nullable, OneOf, Timestamp } from './common.ts';
import { RedeemedOnStarknet } from './gift.ts';
import { NewPasskeyOptions, PasskeyOptions, WebAuthnJson } from './member.ts';
import { signedWalletFields } from './wallet.ts';

const TOKEN = 'rut_eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJyY3BfMDEifQ.c2lnbmF0dXJl';
const PUBLIC_KEY = 'pk_dev_2Jv7mQ4xT9bN1cR6wY3zK8pL5sD0fG2h';
const ADDRESS = '0x03f0f1a8f5cd7c8b6a4c8f0f6dbe15b0a3f5f5e0a2c1f4c2a7b8d9e0f1a2b3c4';
const CHALLENGE = 'AGp2b3hZ0m5Wb8yJt3nR7vLgA2xqkZ0m5Wb8yJt3nR7vLgA';
const SECRET = 'Qm9vdHMgYW5kIGNhdHMgYW5kIGJvb3RzIGFuZCBjYXQ';

/** 32 bytes, derived from the recovery code in the browser: it signs in and opens no key. */
const RecoverySecret = Type.String({
  pattern: '^[\\w-]{43}$',
  description: 'Derived from the recovery code. It signs in; what opens the key is derived apart and never sent',
});
const Passkey = WebAuthnJson(
  "What the browser's WebAuthn interface answered, in JSON, without the results of extensions: those open the key",
);

const recipientFields = {
  id: Type.String({ description: 'The externalUserId of the wallet' }),
  walletAddress: Type.String(),
  apiPublicKey: Type.String({ description: 'For x-api-key, beside the token' }),
  environment: OneOf(environments),
  orgName: Type.String(),
  brand: Type.Optional(Brand),
  appUrl: Nullable(Type.String({ description: "The organisation's own app" })),
  passkeys: Type.Integer({ description: 'That sign in to this wallet' }),
  hasRecoveryCode: Type.Boolean(),
  mxnPerUsd: Nullable(Type.Number({ description: 'To show amounts in pesos; null while there is no rate' })),
};
const RECIPIENT = {
  id: 'rcp_01kxw9h4j5k6m7n8p9q0r1s2t3',
  walletAddress: ADDRESS,
  apiPublicKey: PUBLIC_KEY,
  environment: 'development',
  orgName: 'Tienda Azul',
  appUrl: null,
  passkeys: 1,
  hasRecoveryCode: false,
  mxnPerUsd: 18.5,
};
/** A person who took a gift into a wallet that its code made. Known to one organisation only. */
export const Recipient = Type.Object(recipientFields, { title: 'Recipient', examples: [RECIPIENT] });
export type Recipient = Static<typeof Recipient>;

export const RecipientWalletOptions = Type.Object(
  {
    apiPublicKey: recipientFields.apiPublicKey,
    passkey: Nullable(NewPasskeyOptions.properties.options),
  },
  {
    title: 'RecipientWalletOptions',
    description: '`passkey` is null where the service is reached by an address that browsers have no passkeys for',
    examples: [{ apiPublicKey: PUBLIC_KEY, passkey: null }],
  },
);

export const PrepareRecipientWallet = Type.Object(
  { publicKey: AddressText('The calculated account contract address'), starkKeyPubAX: Felt('Public key on the curve') },
  { examples: [{ publicKey: ADDRESS, starkKeyPubAX: '0x1931ee712a85a44664342b7621a4cd0bd4df3fe600e5e4c2b187a27' }] },
);

/** An encrypted Starknet key is well under a kilobyte. */
const MAX_CIPHERTEXT = 8192;

export const CreateRecipientWallet = Type.Object({
  ...signedWalletFields,
  encryptedPrivateKey: Type.String({
    minLength: 1,
    maxLength: MAX_CIPHERTEXT,
    description: 'Encrypted in the browser, for a passkey or a passphrase',
  }),
  passkey: Type.Optional(Passkey),
  deviceType: Type.Optional(Type.String({ maxLength: 64 })),
  recoverySecret: Type.Optional(RecoverySecret),
});

const session = {
  token: Nullable(Type.String({ description: 'Bearer for this wallet alone; null in a repetition: sign in instead' })),
  expiresAt: Nullable(Timestamp()),
  recipient: Recipient,
};

export const RecipientWalletCreated = Type.Object(
  {
    ...session,
    transactionHash: Type.String({ description: 'Of the deployment' }),
    giftRedeem: RedeemedOnStarknet.properties.giftRedeem,
  },
  {
    title: 'RecipientWalletCreated',
    examples: [
      {
        token: TOKEN,
        expiresAt: '2026-12-24T18:35:11.000Z',
        recipient: RECIPIENT,
        transactionHash: '0x05c1f6d0f6a6c9d7b3e2a1908f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4',
        giftRedeem: {
          id: 'rdm_01kxw9d5e6f7g8h9j0k1m2n3p4',
          status: 'SUCCESS',
          transactionHash: '0x05c1f6d0f6a6c9d7b3e2a1908f7e6d5c4b3a29180f7e6d5c4b3a291807f6e5d4',
          walletAddress: ADDRESS,
          amount: '5',
        },
      },
    ],
  },
);

export const RecipientChallenge = Type.Object(PasskeyOptions.properties, {
  title: 'RecipientChallenge',
  examples: [{ options: { challenge: CHALLENGE, rpId: 'svc.example', timeout: 60_000, userVerification: 'required' } }],
});

export const SignInRecipient = Type.Object(
  { passkey: Type.Optional(Passkey), recoverySecret: Type.Optional(RecoverySecret) },
  { examples: [{ recoverySecret: SECRET }] },
);

export const RecipientSession = Type.Object(
  { token: Type.String(), expiresAt: Timestamp(), recipient: Recipient },
  {
    title: 'RecipientSession',
    examples: [{ token: TOKEN, expiresAt: '2026-12-24T18:35:11.000Z', recipient: RECIPIENT }],
  },
);

export const RegisterRecipientPasskey = Type.Object({ passkey: Passkey });
export const SetRecoveryCode = Type.Object(
  { recoverySecret: RecoverySecret },
  { examples: [{ recoverySecret: SECRET }] },
);

export const DeleteRecipientQuery = Type.Object({
  exported: Type.Optional(
    Type.Boolean({ default: false, description: 'You have the key: delete also with money in the wallet' }),
  ),
});
