import { field, hashOf, transferOf } from '../../support/app.ts';
import { inTurn } from '../../support/examples.ts';
import { USDC } from '../../support/starknet-client.ts';
import { type Provoke, type RefusalsOf, type Scene, withBody, withParams } from './provoke.ts';
import { UNAVAILABLE, WOULD_REVERT } from './shared-refusals.ts';
import { NOBODY } from './wallet-refusals.ts';

/** What the purchases that are due for refund were paid with, in the smallest unit. */
const PAID_RAW = 10_000n;
const unknownPurchase = withParams({ id: 'txn_nothing' });

/** A purchase of which the service has heard nothing yet: one that it knows is answered without further questions. */
const unheard = (change: object): Provoke => withBody({ transactionHash: NOBODY, ...change });

/** A payment of the wallet with money, too small for anything. */
const smallPayment: Provoke = async (scene) => {
  const { app, owner } = scene.world;
  const paymentAddress = field<string>(await app.get('/config'), 'paymentAddress');
  const transactionHash = hashOf(await app.execute(owner, [transferOf(USDC, paymentAddress, 1n)]));
  return withBody({ transactionHash, walletAddress: owner.address })(scene);
};

/** A transfer to the payer that counts as the refund of another purchase. */
const refundOfAnother: Provoke = async ({ world, send }: Scene) => {
  const { app, owner, purchases } = world;
  const payer = purchases.body.walletAddress;
  const transactionHash = hashOf(await app.execute(owner, [transferOf(USDC, payer, PAID_RAW)]));
  const body = { transactionHash };
  await send({ params: { id: inTurn(purchases.refundable) }, body });
  return { params: { id: inTurn(purchases.refundable) }, body };
};

const withFault =
  (fault: object, provoke: Provoke): Provoke =>
  async (scene) => {
    await scene.world.sandbox.orderFault({ ...fault });
    return provoke(scene);
  };

export const purchaseRefusals: RefusalsOf = {
  createSkuPurchase: {
    invalid_reference: unheard({ skuReference: 'nonsense' }),
    invalid_amount: unheard({ currencyAmount: 1 }),
    payment_too_small: smallPayment,
    token_not_supported: withBody({ token: 'STRK' }),
    transaction_already_used: withBody({ skuReference: 'IMDM28417937' }),
    transaction_mismatch: (scene) => {
      const { transfer, owner } = scene.world;
      return withBody({ transactionHash: transfer, walletAddress: owner.address })(scene);
    },
    transaction_reverted: (scene) => withBody({ transactionHash: scene.failed.hash })(scene),
    transaction_not_found: unheard({}),
    unsupported_chain: withBody({ chain: 'BASE' }),
    sku_not_found: unheard({ skuId: 'nothing' }),
    chain_unavailable: withFault(UNAVAILABLE, unheard({})),
  },
  getSkuPurchase: { purchase_not_found: unknownPurchase },
  cancelSkuPurchase: {
    purchase_not_found: unknownPurchase,
    purchase_not_cancellable: ({ world }) => ({ params: { id: inTurn(world.purchases.refundable) } }),
  },
  refundSkuPurchase: {
    purchase_not_found: unknownPurchase,
    purchase_not_refundable: ({ world }) => ({ params: { id: world.purchases.id } }),
    refund_failed: withFault(WOULD_REVERT, () => ({})),
    transaction_already_used: refundOfAnother,
    transaction_mismatch: ({ world }) => ({ body: { transactionHash: world.transfer } }),
    transaction_reverted: ({ failed }) => ({ body: { transactionHash: failed.hash } }),
    transaction_not_found: () => ({ body: { transactionHash: NOBODY } }),
    chain_not_configured: ({ callers, strandedPurchase }) => ({
      headers: callers.production,
      params: { id: strandedPurchase },
    }),
    chain_unavailable: withFault(UNAVAILABLE, () => ({})),
  },
};
