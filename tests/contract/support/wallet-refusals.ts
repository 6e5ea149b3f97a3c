import { classes, toHex } from '@svc/starknet';
import { Owner } from '../../support/app.ts';
import { type ExampleData, type Signed, signedUpgrade, type TypedData, upgradeBody } from '../../support/examples.ts';
import { type Provoke, type RefusalsOf, withBody, withQuery } from './provoke.ts';
import { UNAVAILABLE, WOULD_REVERT } from './shared-refusals.ts';

export const NOBODY = '0x1234';
export const NONSENSE = { types: {}, primaryType: 'Mail', domain: {}, message: {} };

/** Typed data whose window has passed. */
export const expired = ({ message, ...data }: TypedData): TypedData => ({
  ...data,
  message: { ...message, 'Execute After': '0x1', 'Execute Before': '0x2' },
});

type Spoil = (creation: Signed, owner: Owner) => object;

/** A creation of a wallet that nobody has yet: one that exists is answered without further questions. */
const creationWith =
  (spoil: Spoil, fault?: object): Provoke =>
  async ({ world: { app, sandbox, user } }) => {
    const owner = new Owner();
    const creation = (await app.creation(owner, user)) as Signed;
    if (fault) await sandbox.orderFault({ ...fault });
    return { body: { ...creation, ...spoil(creation, owner) } };
  };

const otherClass: Spoil = () => {
  const other = new Owner(classes.ready);
  return { publicKey: other.address, deploymentData: other.deployment };
};
const late: Spoil = ({ typedData }, owner) => {
  const over = expired(typedData);
  return { typedData: over, userSignature: owner.sign(over) };
};

/** An upgrade that nobody has sent yet. */
const upgradeWith =
  (spoil: (upgrade: Signed, world: ExampleData) => object | Promise<object>, fault?: object): Provoke =>
  async ({ world }) => {
    const upgrade = await signedUpgrade(world.app, world.upgradeable);
    if (fault) await world.sandbox.orderFault({ ...fault });
    return { body: { ...upgrade, ...(await spoil(upgrade, world)) } };
  };

/** The prepared upgrade with another target, signed by the owner. */
const toReady = ({ typedData }: Signed, { upgradeable }: ExampleData) => {
  const changed = structuredClone(typedData) as TypedData & { message: { Calls: { Calldata: string[] }[] } };
  for (const call of changed.message.Calls) call.Calldata = [toHex(classes.ready)];
  return upgradeBody(upgradeable, changed);
};

const ofFailedWallet: Provoke = ({ example, failed }) => ({
  body: { ...(example.body as object), walletAddress: failed.owner.address },
});

export const walletRefusals: RefusalsOf = {
  prepareWalletCreation: {
    unsupported_chain: withBody({ chain: 'BASE' }),
    class_not_allowed: withBody({ classHash: '0x123' }),
  },
  createWallet: {
    unsupported_chain: withBody({ chain: 'BASE' }),
    address_mismatch: creationWith(() => ({ publicKey: new Owner().address })),
    class_not_allowed: creationWith(otherClass),
    invalid_typed_data: creationWith(() => ({ typedData: NONSENSE })),
    typed_data_expired: creationWith(late),
    invalid_signature: creationWith(() => ({ userSignature: { r: '0x1', s: '0x2', recovery: 0 } })),
    wallet_already_exists: async ({ world: { app, owner } }) => ({ body: await app.creation(owner, 'another') }),
    transaction_reverted: creationWith(() => ({}), WOULD_REVERT),
    chain_unavailable: creationWith(() => ({}), UNAVAILABLE),
  },
  updateEncryptionDetails: {
    wallet_ambiguous: ({ world: { user } }) => ({
      body: { externalUserId: user, newEncryptedPrivateKey: 'ciphertext' },
    }),
    wallet_not_found: withBody({ publicKey: NOBODY }),
  },
  getTokenBalance: {
    unsupported_chain: withQuery({ chain: 'BASE' }),
    token_not_supported: withQuery({ chainToken: 'OTHER' }),
  },
  prepareWalletUpgrade: {
    class_not_allowed: withBody({ targetClassHash: toHex(classes.ready) }),
    wallet_not_deployed: ofFailedWallet,
    wallet_not_found: withBody({ walletAddress: NOBODY }),
  },
  executeWalletUpgrade: {
    class_not_allowed: upgradeWith(toReady),
    wallet_not_deployed: ofFailedWallet,
    invalid_typed_data: upgradeWith(() => ({ typedData: NONSENSE })),
    typed_data_expired: upgradeWith(({ typedData }, { upgradeable }) => upgradeBody(upgradeable, expired(typedData))),
    invalid_signature: upgradeWith(() => ({ signature: ['0x1', '0x2'] })),
    transaction_reverted: upgradeWith(() => ({}), WOULD_REVERT),
    wallet_not_found: withBody({ walletAddress: NOBODY }),
  },
};
