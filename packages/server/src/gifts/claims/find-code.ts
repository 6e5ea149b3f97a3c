import { type Sql, sql } from '@svc/store';
import { type GiftRecord, giftColumns } from '../gift.ts';
import { codeKey } from '../management/code.ts';
import type { ClaimParts } from './parts.ts';

/** What a gift code can be; the rest is looked up like any other, under a key that no gift has. */
const CODE = /^[A-Za-z0-9_-]{4,64}$/;
const NO_CODE = '';

export const keyOfCode = (code: string): string => (CODE.test(code) ? codeKey(code) : NO_CODE);

export interface ClaimedGift extends GiftRecord {
  readonly orgName: string;
}

/** The gift with this code that was not deleted. Counts for the client if there is none. */
export function findByCode({ codes }: Pick<ClaimParts, 'codes'>, client: string, code: string) {
  return codes.find<ClaimedGift>(client, giftByCode(code));
}

function giftByCode(code: string): Sql {
  return sql`
    select ${giftColumns}, organizations.name as "orgName"
      from gifts
      join organizations on organizations.id = gifts.organization_id
     where gifts.code_key = ${keyOfCode(code)} and gifts.deleted_at is null`;
}
