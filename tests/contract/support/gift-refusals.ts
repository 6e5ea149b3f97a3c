import { field } from '../../support/app.ts';
import { send } from '../../support/client.ts';
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
  const expired = await app.gift({ amount });
  await app.patch(`/gifts/${expired.id}`, { expiresAt: LONG_AGO });
  await app.gift({ amount });
  return { params: { id: expired.id }, body: { expiresAt: FAR_AHEAD } };
};

/** The public key of an organisation whose limit for it is zero. */
const withoutDailyLimit: Provoke = async ({ callers: { others }, world: { app } }) => {
  const body = { publicKeyGiftsDailyUsd: 0 };
  await send(`${app.baseUrl}/organization/settings`, { method: 'PATCH', headers: others, body });
  return { headers: { 'x-api-key': others['x-api-key'] ?? '' } };
};

export const giftRefusals: RefusalsOf = {
  createGift: {
    gift_code_taken: (scene) => withBody({ code: scene.world.gifts.gift.code.toLowerCase() })(scene),
    insufficient_credits: withBody({ amount: THE_MOST, maxRedeems: MANY }),
    daily_limit_reached: withoutDailyLimit,
  },
  createGiftsBulk: {
    gift_code_taken: (scene) =>
      withBody({ recipients: [{ email: 'ana@example.com', code: scene.world.gifts.gift.code }] })(scene),
    insufficient_credits: withBody({
      amount: THE_MOST,
      recipients: Array.from({ length: MANY }, () => ({ email: 'ana@example.com' })),
    }),
    daily_limit_reached: withoutDailyLimit,
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
