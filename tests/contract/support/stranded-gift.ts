import { storeGifts } from '../../../packages/server/src/gifts/create-gifts.ts';
import { credit } from '../../../packages/server/src/ledger/ledger.ts';
import { newCode } from '../../support/app.ts';
import type { TestService } from '../../support/service.ts';

const DOLLAR = 1_000_000n;

/** A gift of production, as one finds it after the live chain was taken out of the configuration. Answers its code. */
export async function strandedGift(service: TestService): Promise<string> {
  const { db } = service;
  const { id: organizationId } = await service.organization({ name: 'Stranded' });
  const owner = { organizationId, environment: 'production' } as const;
  await credit(db, { ...owner, type: 'GRANT', amount: 10n * DOLLAR, reference: 'stranded' });
  const [code, limits] = [newCode(), { maxRedeems: 1, maxRedeemsPerUser: 1, isActive: true, cctpFast: false }];
  const kinds = { name: 'Stranded', type: 'GIFT_CARD', recipientEmail: null, campaignName: null } as const;
  const costs = { amount: DOLLAR, gas: 0n, bridge: 0n };
  const gift = { code, ...kinds, ...limits, ...costs, startsAt: new Date(0), expiresAt: null };
  await db.tx((tx) => storeGifts(tx, owner, [gift]));
  return code;
}
