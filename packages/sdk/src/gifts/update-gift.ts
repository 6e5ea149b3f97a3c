import type { endpoints, Gift } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { request } from '../client/request.ts';

export interface UpdateGiftParams {
  readonly id: string;
  readonly isActive?: boolean | undefined;
  readonly name?: string | undefined;
  /** ISO 8601; null: never. Moving it forward after it has passed holds the credits again. */
  readonly expiresAt?: string | null | undefined;
}

/**
 * Switches a gift on or off, renames it, or moves its expiry. What is left out stays.
 *
 * @example
 * const paused = await svc.gifts.updateGift({ id: gift.id, isActive: false });
 */
export async function updateGift(client: Client, { id, ...changes }: UpdateGiftParams): Promise<Gift> {
  const { isActive, name, expiresAt } = changes;
  if (isActive === undefined && name === undefined && expiresAt === undefined) {
    throw new SvcInputError('invalid_input', 'Pass isActive, name or expiresAt: nothing would change.');
  }
  return await request<typeof endpoints.updateGift>(client, {
    route: 'PATCH /gifts/{id}',
    access: 'either',
    params: { id },
    body: { isActive, name, expiresAt },
  });
}
