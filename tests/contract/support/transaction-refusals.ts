import { Owner } from '../../support/app.ts';
import { type ExampleData, type Signed, signedTransfer } from '../../support/examples.ts';
import { type Provoke, type RefusalsOf, withBody, withParams } from './provoke.ts';
import { FORGETFUL } from './shared-refusals.ts';
import { expired, NOBODY, NONSENSE } from './wallet-refusals.ts';

const executionWith =
  (spoil: (execution: Signed, owner: Owner) => object): Provoke =>
  async ({ world: { app, owner } }) => {
    const execution = await signedTransfer(app, owner, 1n);
    return { body: { ...execution, ...spoil(execution, owner) } };
  };

const late = ({ typedData }: Signed, owner: Owner) => {
  const over = expired(typedData);
  return { typedData: over, userSignature: owner.sign(over) };
};

/** Whoever creates the wallet has been told of its transaction, and the node has lost it. */
async function ofComingWallet({ app, sandbox, user }: ExampleData): Promise<Signed> {
  const owner = new Owner();
  await sandbox.orderFault(FORGETFUL);
  await app.createWallet(owner, user);
  return signedTransfer(app, owner, 1n);
}

/** More than there is. */
const TOO_MUCH = 10n ** 12n;

export const transactionRefusals: RefusalsOf = {
  recordSend: {
    token_not_supported: withBody({ expectedToken: 'OTHER' }),
    transaction_not_found: withBody({ transactionHash: NOBODY }),
    transaction_reverted: (scene) => withBody({ transactionHash: scene.failed.hash })(scene),
    transaction_mismatch: withBody({ expectedAmount: '2' }),
    secret_key_required: async (scene) => ({
      ...(await withBody({ chain: 'BASE' })(scene)),
      headers: scene.callers.user,
    }),
  },
  executeSponsoredTransaction: {
    invalid_typed_data: executionWith(() => ({ typedData: NONSENSE })),
    typed_data_expired: executionWith(late),
    invalid_signature: executionWith(() => ({ userSignature: ['0x1', '0x2'] })),
    wallet_not_deployed: async ({ world }) => ({ body: await ofComingWallet(world) }),
    transaction_reverted: async ({ world: { app, owner } }) => ({ body: await signedTransfer(app, owner, TOO_MUCH) }),
  },
  getTransaction: {
    transaction_not_found: withParams({ hashOrId: NOBODY }),
  },
};
