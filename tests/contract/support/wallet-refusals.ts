import { classes, toHex } from '@svc/starknet';
import { type App, hashOf, Owner } from '../../support/app.ts';
import { send } from '../../support/client.ts';
import {
  type ExampleData,
  type Signed,
  signedBurn,
  signedTransfer,
  signedUpgrade,
  type TypedData,
  upgradeBody,
} from '../../support/examples.ts';
import { PrivateAccount, poolCall, setTerms } from '../../support/private-pool.ts';
import {
  FORGETFUL,
  type MakeRefusal,
  type RefusalsOf,
  UNAVAILABLE,
  WOULD_REVERT,
  withBody,
  withParams,
  withQuery,
} from './refusal.ts';
import type { Thrifty } from './setup.ts';

export const UNKNOWN_HASH = '0x1234';
export const NONSENSE = { types: {}, primaryType: 'Mail', domain: {}, message: {} };

export const expired = ({ message, ...data }: TypedData): TypedData => ({
  ...data,
  message: { ...message, 'Execute After': '0x1', 'Execute Before': '0x2' },
});

type Spoil = (creation: Signed, owner: Owner) => object;

/** Of a new wallet: one that exists is answered without further checks. */
const creationWith =
  (spoil: Spoil, fault?: object): MakeRefusal =>
  async ({ data: { app, sandbox, user } }) => {
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

const upgradeWith =
  (spoil: (upgrade: Signed, data: ExampleData) => object | Promise<object>, fault?: object): MakeRefusal =>
  async ({ data }) => {
    const upgrade = await signedUpgrade(data.app, data.upgradeable);
    if (fault) await data.sandbox.orderFault({ ...fault });
    return { body: { ...upgrade, ...(await spoil(upgrade, data)) } };
  };

/** The prepared upgrade with another target, signed by the owner. */
const toReady = ({ typedData }: Signed, { upgradeable }: ExampleData) => {
  const changed = structuredClone(typedData) as TypedData & { message: { Calls: { Calldata: string[] }[] } };
  for (const call of changed.message.Calls) call.Calldata = [toHex(classes.ready)];
  return upgradeBody(upgradeable, changed);
};

const fromThrifty =
  (what: Exclude<keyof Thrifty, 'headers'>): MakeRefusal =>
  ({ thrifty }) => ({ headers: thrifty.headers, body: thrifty[what] });

const ofFailedWallet: MakeRefusal = ({ example, failed }) => ({
  body: { ...(example.body as object), walletAddress: failed.owner.address },
});

const ofSeveralWallets: MakeRefusal = ({ data: { user } }) => ({ query: `externalUserId=${user}` });

/** Above the number of replaced ciphertexts that a wallet keeps. */
const REPLACEMENTS = 12;
const ofFullHistory: MakeRefusal = async ({ data: { app, user } }) => {
  const owner = new Owner();
  await app.createWallet(owner, user);
  const body = (newEncryptedPrivateKey: string) => ({
    externalUserId: user,
    publicKey: owner.address,
    newEncryptedPrivateKey,
  });
  for (let count = 0; count < REPLACEMENTS; count++) {
    await app.patch('/svc-wallets/update-encryption-details', body(`ciphertext ${count}`));
  }
  return { body: body('one more') };
};

const unknownWallet = { wallet_not_found: withParams({ id: 'wal_nothing' }) };

export const walletRefusals: RefusalsOf = {
  getWalletById: unknownWallet,
  getWalletChainState: unknownWallet,
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
    wallet_already_exists: async ({ data: { app, owner } }) => ({ body: await app.creation(owner, 'another') }),
    transaction_reverted: creationWith(() => ({}), WOULD_REVERT),
    chain_unavailable: creationWith(() => ({}), UNAVAILABLE),
    sponsorship_limit_reached: fromThrifty('creation'),
  },
  updateEncryptionDetails: {
    wallet_ambiguous: ({ data: { user } }) => ({
      body: { externalUserId: user, newEncryptedPrivateKey: 'ciphertext' },
    }),
    encryption_history_full: ofFullHistory,
    wallet_not_found: withBody({ publicKey: UNKNOWN_HASH }),
  },
  listEncryptionHistory: {
    wallet_ambiguous: ofSeveralWallets,
    wallet_not_found: withQuery({ publicKey: UNKNOWN_HASH }),
  },
  restoreEncryption: {
    wallet_ambiguous: ({ data: { user, replaced } }) => ({ body: { externalUserId: user, id: replaced } }),
    wallet_not_found: withBody({ publicKey: UNKNOWN_HASH }),
    encryption_not_found: withBody({ id: 'enc_unknown' }),
  },
  purgeEncryptionHistory: {
    wallet_ambiguous: ofSeveralWallets,
    wallet_not_found: withQuery({ publicKey: UNKNOWN_HASH }),
  },
  getTokenBalance: {
    unsupported_chain: withQuery({ chain: 'BASE' }),
    token_not_supported: withQuery({ chainToken: 'OTHER' }),
  },
  prepareWalletUpgrade: {
    class_not_allowed: withBody({ targetClassHash: toHex(classes.ready) }),
    wallet_not_deployed: ofFailedWallet,
    wallet_not_found: withBody({ walletAddress: UNKNOWN_HASH }),
  },
  executeWalletUpgrade: {
    class_not_allowed: upgradeWith(toReady),
    wallet_not_deployed: ofFailedWallet,
    invalid_typed_data: upgradeWith(() => ({ typedData: NONSENSE })),
    typed_data_expired: upgradeWith(({ typedData }, { upgradeable }) => upgradeBody(upgradeable, expired(typedData))),
    invalid_signature: upgradeWith(() => ({ signature: ['0x1', '0x2'] })),
    transaction_reverted: upgradeWith(() => ({}), WOULD_REVERT),
    sponsorship_limit_reached: fromThrifty('upgrade'),
    wallet_not_found: withBody({ walletAddress: UNKNOWN_HASH }),
  },
};

const executionWith =
  (spoil: (execution: Signed, owner: Owner) => object): MakeRefusal =>
  async ({ data: { app, owner } }) => {
    const execution = await signedTransfer(app, owner, 1n);
    return { body: { ...execution, ...spoil(execution, owner) } };
  };

const lateExecution = ({ typedData }: Signed, owner: Owner) => {
  const over = expired(typedData);
  return { typedData: over, userSignature: owner.sign(over) };
};

/** The node loses the transaction that creates the wallet. */
async function ofComingWallet(
  { app, sandbox, user }: ExampleData,
  sign: (app: App, owner: Owner) => Promise<Signed> = (one, owner) => signedTransfer(one, owner, 1n),
): Promise<Signed> {
  const owner = new Owner();
  await sandbox.orderFault(FORGETFUL);
  await app.createWallet(owner, user);
  return sign(app, owner);
}

const preparedFor =
  (operation: string, terms: object): MakeRefusal =>
  async ({ data: { sandbox, owner } }) => {
    await setTerms(sandbox, terms);
    return { body: { publicKey: owner.address, calls: [poolCall(operation, [])] } };
  };

/** Signed under no terms, sent under these. */
const shieldUnder =
  (terms: object, { isSecond = false, claimed }: { isSecond?: boolean; claimed?: bigint } = {}): MakeRefusal =>
  async ({ data: { app, sandbox, user } }) => {
    const owner = new Owner();
    await app.createWallet(owner, user);
    await sandbox.faucet(owner.address, 'USDC', '1');
    const account = new PrivateAccount(sandbox, owner);
    if (isSecond) {
      await setTerms(sandbox, terms);
      hashOf(await app.execute(owner, await account.shield([1n])));
    } else await setTerms(sandbox, {});
    const typedData = await app.prepare(owner.address, await account.shield([1n], claimed));
    await setTerms(sandbox, terms);
    return { body: { publicKey: owner.address, typedData, userSignature: owner.sign(typedData) } };
  };

const burnWith =
  (spoil: (burn: Signed, owner: Owner) => object, fault?: object): MakeRefusal =>
  async ({ data: { app, owner, sandbox } }) => {
    const burn = await signedBurn(app, owner);
    if (fault) await sandbox.orderFault({ ...fault });
    return { body: { ...burn, ...spoil(burn, owner) } };
  };

const burnOfThrifty =
  (...allowedEntrypoints: string[]): MakeRefusal =>
  async ({ data, thrifty: { headers, burn } }) => {
    const body = { allowedEntrypoints };
    await send(`${data.app.baseUrl}/organization/sponsorship`, { method: 'PATCH', headers, body });
    return { headers, body: burn };
  };

/** Executed as plain calls before. */
const executedBurn: MakeRefusal = async ({ data: { app, owner } }) => {
  const burn = await signedBurn(app, owner);
  await app.post('/transactions/execute-sponsored-transaction', burn);
  return { body: burn };
};

const TOO_MUCH = 10n ** 12n;

export const transactionRefusals: RefusalsOf = {
  recordSend: {
    token_not_supported: withBody({ expectedToken: 'OTHER' }),
    transaction_not_found: withBody({ transactionHash: UNKNOWN_HASH }),
    transaction_reverted: (context) => withBody({ transactionHash: context.failed.hash })(context),
    transaction_mismatch: withBody({ expectedAmount: '2' }),
    secret_key_required: async (context) => ({
      ...(await withBody({ chain: 'BASE' })(context)),
      headers: context.callers.user,
    }),
  },
  prepareTypedData: {
    sponsorship_not_allowed: fromThrifty('approve'),
    shield_paused: preparedFor('fund', { shieldPaused: true }),
    pool_fee_unpaid: preparedFor('rollover', { fee: '4' }),
  },
  executeSponsoredTransaction: {
    sponsorship_limit_reached: fromThrifty('transfer'),
    sponsorship_not_allowed: fromThrifty('approval'),
    shield_paused: shieldUnder({ shieldPaused: true }),
    pool_fee_unpaid: shieldUnder({ fee: '4' }),
    pool_busy: shieldUnder({ lagBlocks: 12 }, { isSecond: true }),
    proof_rejected: shieldUnder({}, { claimed: 2n }),
    invalid_typed_data: executionWith(() => ({ typedData: NONSENSE })),
    typed_data_expired: executionWith(lateExecution),
    invalid_signature: executionWith(() => ({ userSignature: ['0x1', '0x2'] })),
    wallet_not_deployed: async ({ data }) => ({ body: await ofComingWallet(data) }),
    transaction_reverted: async ({ data: { app, owner } }) => ({ body: await signedTransfer(app, owner, TOO_MUCH) }),
  },
  quoteSolanaTransfer: { amount_below_fee: withBody({ amount: '0.000001' }) },
  createSolanaTransfer: {
    invalid_typed_data: executionWith(() => ({})),
    typed_data_expired: burnWith(lateExecution),
    invalid_signature: burnWith(() => ({ userSignature: ['0x1', '0x2'] })),
    bridge_fee_changed: async ({ data: { app, owner } }) => ({ body: await signedBurn(app, owner, '2', 1n) }),
    transaction_already_used: executedBurn,
    wallet_not_deployed: async ({ data }) => ({ body: await ofComingWallet(data, signedBurn) }),
    transaction_reverted: async ({ data: { app, owner } }) => ({ body: await signedBurn(app, owner, '1000000') }),
    chain_unavailable: burnWith(() => ({}), UNAVAILABLE),
    sponsorship_limit_reached: burnOfThrifty('transfer', 'approve', 'deposit_for_burn_with_hook'),
    sponsorship_not_allowed: burnOfThrifty('transfer'),
  },
  getSolanaTransfer: { solana_transfer_not_found: withParams({ id: 'slt_nothing' }) },
  getTransaction: {
    transaction_not_found: withParams({ hashOrId: UNKNOWN_HASH }),
  },
  getTransactionDetails: {
    transaction_not_found: withParams({ hashOrId: UNKNOWN_HASH }),
  },
};
