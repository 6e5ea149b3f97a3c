import { endpoint } from '../endpoint.ts';
import { Success } from '../schemas/common.ts';
import * as schema from '../schemas/gift.ts';
import { IdParams } from '../schemas/sku.ts';

const tag = 'Gifts';

export const createGift = endpoint({
  operationId: 'createGift',
  method: 'POST',
  path: '/gifts',
  tag,
  summary: 'Create a gift code and hold its credits',
  access: 'either',
  body: schema.CreateGift,
  answers: { 201: schema.Gift },
  errors: ['invalid_request', 'gift_code_taken', 'daily_limit_reached', 'insufficient_credits', 'chain_not_configured'],
});

export const createGiftsBulk = endpoint({
  operationId: 'createGiftsBulk',
  method: 'POST',
  path: '/gifts/bulk',
  tag,
  summary: 'Create one gift for each recipient and mail the claim links',
  access: 'either',
  body: schema.CreateGiftsBulk,
  answers: { 201: schema.GiftsCreated },
  errors: [
    'invalid_request',
    'gift_code_taken',
    'daily_limit_reached',
    'mail_limit_reached',
    'insufficient_credits',
    'chain_not_configured',
  ],
});

export const listGifts = endpoint({
  operationId: 'listGifts',
  method: 'GET',
  path: '/gifts',
  tag,
  summary: "List the organisation's gifts, newest first",
  access: 'either',
  query: schema.GiftListQuery,
  answers: { 200: schema.GiftPage },
  errors: ['invalid_request'],
});

export const getGiftUsage = endpoint({
  operationId: 'getGiftUsage',
  method: 'GET',
  path: '/gifts/usage',
  tag,
  summary: 'Read totals over all gifts',
  access: 'either',
  answers: { 200: schema.GiftUsage },
});

export const listCampaigns = endpoint({
  operationId: 'listCampaigns',
  method: 'GET',
  path: '/gifts/campaigns',
  tag,
  summary: 'List bulk creations by name, the last used first',
  access: 'either',
  query: schema.CampaignQuery,
  answers: { 200: schema.CampaignPage },
  errors: ['invalid_request'],
});

export const listGiftRedeems = endpoint({
  operationId: 'listGiftRedeems',
  method: 'GET',
  path: '/gifts/history/redeems',
  tag,
  summary: 'List redemptions, newest first',
  access: 'either',
  query: schema.RedeemListQuery,
  answers: { 200: schema.GiftRedeemPage },
  errors: ['invalid_request'],
});

export const getGiftRedeem = endpoint({
  operationId: 'getGiftRedeem',
  method: 'GET',
  path: '/gifts/history/redeems/{id}',
  tag,
  summary: 'Read one redemption',
  access: 'either',
  params: IdParams,
  answers: { 200: schema.GiftRedeem },
  errors: ['redeem_not_found'],
});

export const getRedeemEvidence = endpoint({
  operationId: 'getRedeemEvidence',
  method: 'GET',
  path: '/gifts/history/redeems/{id}/evidence',
  tag,
  summary: 'Read every step of a redemption with its hash and time',
  access: 'either',
  params: IdParams,
  answers: { 200: schema.RedeemEvidence },
  errors: ['redeem_not_found'],
});

export const shareRedeemEvidence = endpoint({
  operationId: 'shareRedeemEvidence',
  method: 'POST',
  path: '/gifts/history/redeems/{id}/evidence/links',
  tag,
  summary: 'Make a link that shows the evidence of a redemption to anyone who has it',
  description: 'The page has the names of organisation and gift, amounts, addresses and hashes; never the code.',
  access: 'secret',
  params: IdParams,
  body: schema.ShareEvidence,
  answers: { 201: schema.EvidenceLink },
  errors: ['invalid_request', 'redeem_not_found'],
});

export const revokeEvidenceLinks = endpoint({
  operationId: 'revokeEvidenceLinks',
  method: 'DELETE',
  path: '/gifts/history/redeems/{id}/evidence/links',
  tag,
  summary: 'End all links to the evidence of a redemption',
  description: 'At once. Links that are made afterwards work.',
  access: 'secret',
  params: IdParams,
  answers: { 200: Success },
  errors: ['redeem_not_found'],
});

export const getSharedEvidence = endpoint({
  operationId: 'getSharedEvidence',
  method: 'GET',
  path: '/evidence/{token}',
  tag,
  summary: 'Read the evidence of a redemption by a shared link',
  access: 'none',
  params: schema.EvidenceParams,
  answers: { 200: schema.SharedEvidence },
  errors: ['evidence_not_found', 'rate_limited'],
});

export const getGift = endpoint({
  operationId: 'getGift',
  method: 'GET',
  path: '/gifts/{id}',
  tag,
  summary: 'Read one gift',
  access: 'either',
  params: IdParams,
  answers: { 200: schema.Gift },
  errors: ['gift_not_found'],
});

export const updateGift = endpoint({
  operationId: 'updateGift',
  method: 'PATCH',
  path: '/gifts/{id}',
  tag,
  summary: 'Switch a gift on or off, rename it, move its expiry',
  access: 'either',
  params: IdParams,
  body: schema.UpdateGift,
  answers: { 200: schema.Gift },
  errors: ['invalid_request', 'insufficient_credits', 'gift_not_found'],
});

export const deleteGift = endpoint({
  operationId: 'deleteGift',
  method: 'DELETE',
  path: '/gifts/{id}',
  tag,
  summary: 'Delete a gift and release its held credits',
  access: 'either',
  params: IdParams,
  answers: { 200: schema.GiftDeleted },
  errors: ['gift_not_found'],
});

export const getClaimChallenge = endpoint({
  operationId: 'getClaimChallenge',
  method: 'GET',
  path: '/gifts/claim-challenge',
  tag: 'Claims',
  summary: 'Get a challenge for a proof of work',
  description:
    'Claims and redeems need a proof of work while too many unknown codes are looked up; they then answer 429 `proof_of_work_required`. ' +
    'Find a whole number whose PBKDF2 (HMAC-SHA-256, the number in decimal as password, `challenge` as salt, `iterations`, 32 bytes) ' +
    'begins with `difficulty` zero bits. Send `{challenge}.{number}` in the header `x-svc-proof`. A proof is valid once.',
  access: 'none',
  answers: { 200: schema.ClaimChallenge },
  errors: ['rate_limited'],
});

export const claimGift = endpoint({
  operationId: 'claimGift',
  method: 'GET',
  path: '/gifts/claim/{code}',
  tag: 'Claims',
  summary: 'See whether a code is valid and what it gives',
  access: 'none',
  params: schema.CodeParams,
  answers: { 200: schema.Claim },
  errors: ['rate_limited', 'proof_of_work_required', 'invalid_proof_of_work'],
});

export const redeemGift = endpoint({
  operationId: 'redeemGift',
  method: 'POST',
  path: '/gifts/claim/{code}/redeem',
  tag: 'Claims',
  summary: 'Send the gift to a wallet on Starknet or Solana',
  access: 'none',
  params: schema.CodeParams,
  body: schema.RedeemGift,
  answers: { 201: schema.RedeemedOnStarknet, 202: schema.RedeemStarted },
  errors: [
    'invalid_request',
    { code: 'gift_not_found', status: 400 },
    'gift_expired',
    'gift_limit_reached',
    'gift_user_limit_reached',
    'gift_inactive',
    'gift_not_started',
    'chain_not_configured',
    'rate_limited',
    'proof_of_work_required',
    'invalid_proof_of_work',
    'payout_failed',
  ],
});

export const getRedeemStatus = endpoint({
  operationId: 'getRedeemStatus',
  method: 'GET',
  path: '/gifts/claim/{code}/status/{redeemId}',
  tag: 'Claims',
  summary: 'Follow a redeem to its end',
  access: 'none',
  params: schema.RedeemParams,
  answers: { 200: schema.RedeemState },
  errors: ['redeem_not_found', 'rate_limited'],
});
