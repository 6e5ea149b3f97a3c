import { type Provoke, type RefusalsOf, withParams } from './provoke.ts';
import { WOULD_REVERT } from './shared-refusals.ts';

const LONG_AGO = '2026-01-02';
const FAR_AHEAD = '2126-01-02';

/** Whoever comes second in this process is one too many. */
const rateLimited: Provoke = async ({ exhaustedUrl, send }) => {
  await send({ baseUrl: exhaustedUrl });
  return { baseUrl: exhaustedUrl };
};

/** A new gift, changed after it was made where that is the only way. */
const giftWith =
  (changes: object, patch?: object): Provoke =>
  async ({ world: { app } }) => {
    const { id, code } = await app.gift(changes);
    if (patch) await app.patch(`/gifts/${id}`, patch);
    return { params: { code } };
  };

/** A new gift that the same wallet has redeemed once. */
const redeemedWith =
  (changes: object): Provoke =>
  async (scene) => {
    const attempt = await giftWith(changes)(scene);
    await scene.send(attempt);
    return attempt;
  };

export const claimRefusals: RefusalsOf = {
  claimGift: { rate_limited: rateLimited },
  redeemGift: {
    gift_not_found: withParams({ code: 'NOBODY-HAS-THIS' }),
    gift_expired: giftWith({}, { expiresAt: LONG_AGO }),
    gift_limit_reached: redeemedWith({ maxRedeems: 1 }),
    gift_user_limit_reached: redeemedWith({ maxRedeems: 2 }),
    gift_inactive: giftWith({ isActive: false }),
    gift_not_started: giftWith({ startsAt: FAR_AHEAD }),
    chain_not_configured: ({ strandedCode }) => ({ params: { code: strandedCode } }),
    rate_limited: rateLimited,
    payout_failed: async ({ world: { sandbox } }) => {
      await sandbox.orderFault({ ...WOULD_REVERT });
      return {};
    },
  },
  getRedeemStatus: {
    redeem_not_found: ({ world: { gifts } }) => ({ params: { code: gifts.gift.code, redeemId: 'rdm_nothing' } }),
    rate_limited: rateLimited,
  },
};
