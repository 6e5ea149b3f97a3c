import { field } from '../../support/app.ts';
import { makeGift } from '../../support/gifts.ts';
import { type Provoke, type RefusalsOf, withBody, withParams } from './provoke.ts';
import { UNAVAILABLE } from './shared-refusals.ts';
import { NOBODY } from './wallet-refusals.ts';

const THE_MOST = 10_000;
const MANY = 500;
const LONG_AGO = '2026-01-02';
const FAR_AHEAD = '2126-01-02';

const unknownGift = withParams({ id: 'gift_nothing' });

/** An expired gift whose credits have gone into another one: more than half of all there are. */
const withoutCreditsForExpired: Provoke = async ({ world: { app } }) => {
  const { availableUsd } = field<{ availableUsd: number }>(await app.get('/organization'), 'balance');
  const amount = Math.min(THE_MOST, Math.floor(availableUsd * 0.6));
  const expired = await makeGift(app, { amount });
  await app.patch(`/gifts/${expired.id}`, { expiresAt: LONG_AGO });
  await makeGift(app, { amount });
  return { params: { id: expired.id }, body: { expiresAt: FAR_AHEAD } };
};

export const giftRefusals: RefusalsOf = {
  createGift: {
    gift_code_taken: (scene) => withBody({ code: scene.world.gifts.gift.code.toLowerCase() })(scene),
    insufficient_credits: withBody({ amount: THE_MOST, maxRedeems: MANY }),
  },
  createGiftsBulk: {
    gift_code_taken: (scene) =>
      withBody({ recipients: [{ email: 'ana@example.com', code: scene.world.gifts.gift.code }] })(scene),
    insufficient_credits: withBody({
      amount: THE_MOST,
      recipients: Array.from({ length: MANY }, () => ({ email: 'ana@example.com' })),
    }),
  },
  getGift: { gift_not_found: unknownGift },
  updateGift: { gift_not_found: unknownGift, insufficient_credits: withoutCreditsForExpired },
  deleteGift: { gift_not_found: unknownGift },
  getGiftRedeem: { redeem_not_found: withParams({ id: 'redeem_nothing' }) },
  createDeposit: {
    transaction_already_used: ({ callers }) => ({ headers: callers.others }),
    transaction_mismatch: (scene) => withBody({ transactionHash: scene.world.transfer })(scene),
    transaction_reverted: (scene) => withBody({ transactionHash: scene.failed.hash })(scene),
    transaction_not_found: withBody({ transactionHash: NOBODY }),
    unsupported_chain: withBody({ chain: 'BASE' }),
    chain_unavailable: async (scene) => {
      await scene.world.sandbox.orderFault(UNAVAILABLE);
      return withBody({ transactionHash: NOBODY })(scene);
    },
  },
};
