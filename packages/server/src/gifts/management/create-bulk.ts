import { ApiError, type endpoints, formatUsd, usdToNumber } from '@svc/protocol';
import type { Answer, Call } from '../../http/call.ts';
import { shareOf } from '../shares.ts';
import { costsOf } from './costs.ts';
import { readAmount } from './fields.ts';
import type { GiftMail, GiftParts } from './parts.ts';
import { type NewGift, type StoredGift, storeGifts } from './store-gifts.ts';

type CreateGiftsBulk = typeof endpoints.createGiftsBulk;

/** Makes a gift for each recipient and has the links mailed: all of it in one transaction, or nothing. */
export async function createGiftsBulk(
  parts: GiftParts,
  { caller, body, transact }: Call<CreateGiftsBulk>,
): Promise<Answer<CreateGiftsBulk>> {
  const amount = readAmount(body.amount);
  parts.manager(caller.environment);
  const costs = await costsOf(parts, caller.environment, amount, body.cctpFast ?? true);
  const organization = await parts.organizations.organization(caller.organizationId);
  if (!organization) throw new ApiError('internal_error');
  const wanted = giftsOf(body, { amount, ...costs }, parts.now?.() ?? Date.now());
  return transact(async (tx) => {
    const gifts = await storeGifts(tx, caller, wanted, parts.newCode);
    const { organizationId, environment } = caller;
    const mails = gifts.map((gift): GiftMail => {
      const content = contentOf(gift, organization.name, parts.publicUrl());
      return { organizationId, environment, recipient: gift.recipientEmail ?? '', template: 'gift', content };
    });
    await parts.queueMails(tx, mails);
    return {
      created: gifts.length,
      campaignName: body.name,
      totalHeldUsd: usdToNumber(gifts.reduce((sum, gift) => sum + shareOf(gift), 0n)),
      gifts: mails.map(({ recipient, content: { code, claimUrl } }) => ({ code, email: recipient, claimUrl })),
    };
  });
}

function giftsOf(
  body: Call<CreateGiftsBulk>['body'],
  costs: Pick<NewGift, 'amount' | 'gas' | 'bridge'>,
  nowMs: number,
): NewGift[] {
  const common = {
    ...costs,
    name: body.name,
    campaignName: body.name,
    type: body.type ?? ('GIFT_CARD' as const),
    cctpFast: body.cctpFast ?? true,
    maxRedeems: 1,
    maxRedeemsPerUser: 1,
    startsAt: new Date(nowMs),
    expiresAt: null,
    isActive: true,
  };
  return body.recipients.map(({ email, code }) => ({ ...common, recipientEmail: email, code }));
}

function contentOf({ code, name, amount }: StoredGift, orgName: string, publicUrl: string): GiftMail['content'] {
  return { code, name, amountUsd: formatUsd(amount), claimUrl: `${publicUrl}/claim/${code}`, orgName };
}
