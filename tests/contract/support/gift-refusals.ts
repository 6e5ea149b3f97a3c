import { field } from '../../support/app.ts';
import { send } from '../../support/client.ts';
import { type MakeRefusal, type RefusalsOf, UNAVAILABLE, WOULD_REVERT, withBody, withParams } from './refusal.ts';
import { UNKNOWN_HASH } from './wallet-refusals.ts';

const THE_MOST = 10_000;
const MANY = 500;
const LONG_AGO = '2026-01-02';
const FAR_AHEAD = '2126-01-02';

const unknownGift = withParams({ id: 'gift_nothing' });

const withoutCreditsForExpired: MakeRefusal = async ({ data: { app } }) => {
  const { availableUsd } = field<{ availableUsd: number }>(await app.get('/organization'), 'balance');
  const amount = Math.min(THE_MOST, Math.floor(availableUsd * 0.6));
  const expired = await app.gift({ amount });
  await app.patch(`/gifts/${expired.id}`, { expiresAt: LONG_AGO });
  await app.gift({ amount });
  return { params: { id: expired.id }, body: { expiresAt: FAR_AHEAD } };
};

const withoutDailyLimit: MakeRefusal = async ({ callers: { others }, data: { app } }) => {
  const body = { publicKeyGiftsDailyUsd: 0 };
  await send(`${app.baseUrl}/organization/settings`, { method: 'PATCH', headers: others, body });
  return { headers: { 'x-api-key': others['x-api-key'] ?? '' } };
};

export const giftRefusals: RefusalsOf = {
  createGift: {
    gift_code_taken: (context) => withBody({ code: context.data.gifts.gift.code.toLowerCase() })(context),
    insufficient_credits: withBody({ amount: THE_MOST, maxRedeems: MANY }),
    daily_limit_reached: withoutDailyLimit,
  },
  createGiftsBulk: {
    gift_code_taken: (context) =>
      withBody({ recipients: [{ email: 'ana@example.com', code: context.data.gifts.gift.code }] })(context),
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
  getRedeemEvidence: { redeem_not_found: withParams({ id: 'redeem_nothing' }) },
  revokeEvidenceLinks: { redeem_not_found: withParams({ id: 'redeem_nothing' }) },
  shareRedeemEvidence: { redeem_not_found: withParams({ id: 'redeem_nothing' }) },
  createDeposit: {
    transaction_mismatch: (context) => withBody({ transactionHash: context.data.transfer })(context),
    transaction_reverted: (context) => withBody({ transactionHash: context.failed.hash })(context),
    transaction_not_found: withBody({ transactionHash: UNKNOWN_HASH }),
    unsupported_chain: withBody({ chain: 'BASE' }),
    chain_unavailable: async (context) => {
      await context.data.sandbox.orderFault(UNAVAILABLE);
      return withBody({ transactionHash: UNKNOWN_HASH })(context);
    },
  },
};

/** The second request in this process is refused. */
const rateLimited: MakeRefusal = async ({ exhaustedUrl, send }) => {
  await send({ baseUrl: exhaustedUrl });
  return { baseUrl: exhaustedUrl };
};

/** A new gift, with changes that creation does not allow. */
const giftWith =
  (changes: object, patch?: object): MakeRefusal =>
  async ({ data: { app } }) => {
    const { id, code } = await app.gift(changes);
    if (patch) await app.patch(`/gifts/${id}`, patch);
    return { params: { code } };
  };

const redeemedWith =
  (changes: object): MakeRefusal =>
  async (context) => {
    const attempt = await giftWith(changes)(context);
    await context.send(attempt);
    return attempt;
  };

/** In this process one unknown code is enough. */
const withoutProof: MakeRefusal = async ({ guessedUrl }) => {
  await send(`${guessedUrl}/gifts/claim/NO-SUCH-CODE`);
  return { baseUrl: guessedUrl };
};

const withBadProof: MakeRefusal = async (context) => ({
  ...(await withoutProof(context)),
  headers: { 'x-svc-proof': 'nonsense' },
});

const proofRefusals = { proof_of_work_required: withoutProof, invalid_proof_of_work: withBadProof };

export const claimRefusals: RefusalsOf = {
  getClaimChallenge: { rate_limited: rateLimited },
  getSharedEvidence: { evidence_not_found: withParams({ token: 'rdm_nothing' }), rate_limited: rateLimited },
  claimGift: { rate_limited: rateLimited, ...proofRefusals },
  redeemGift: {
    gift_not_found: withParams({ code: 'NO-SUCH-CODE' }),
    gift_expired: giftWith({}, { expiresAt: LONG_AGO }),
    gift_limit_reached: redeemedWith({ maxRedeems: 1 }),
    gift_user_limit_reached: redeemedWith({ maxRedeems: 2 }),
    gift_inactive: giftWith({ isActive: false }),
    gift_not_started: giftWith({ startsAt: FAR_AHEAD }),
    chain_not_configured: ({ strandedCode }) => ({ params: { code: strandedCode } }),
    rate_limited: rateLimited,
    ...proofRefusals,
    payout_failed: async ({ data: { sandbox } }) => {
      await sandbox.orderFault({ ...WOULD_REVERT });
      return {};
    },
  },
  getRedeemStatus: {
    redeem_not_found: ({ data: { gifts } }) => ({ params: { code: gifts.gift.code, redeemId: 'rdm_nothing' } }),
    rate_limited: rateLimited,
  },
};
