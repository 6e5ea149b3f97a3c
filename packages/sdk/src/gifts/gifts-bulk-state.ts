import type { AnswerOf, endpoints } from '@svc/protocol';
import { SvcError, SvcInputError } from '../client/errors.ts';

export type BulkGift = AnswerOf<typeof endpoints.createGiftsBulk>['gifts'][number];

/** How far a bulk creation is, as plain JSON. It holds gift codes: store it as you would store those. */
export interface GiftsBulkState {
  readonly version: 1;
  /** What is created and for whom, so that a run is gone on with as it was begun. */
  readonly order: string;
  readonly created: readonly BulkGift[];
  readonly totalHeldUsd: number;
  /** A batch that was sent, or is about to be, and whose answer has not come. */
  readonly pending?: { readonly idempotencyKey: string; readonly sinceMs: number } | undefined;
}

/** A bulk creation stopped on its way. `state` goes on where it stopped: pass it as `resume`. */
export class SvcGiftsBulkError extends SvcError {
  override readonly name = 'SvcGiftsBulkError';
  declare readonly code: 'gifts_bulk_stopped' | 'gifts_bulk_unclear';
  readonly state: GiftsBulkState;

  constructor(
    code: 'gifts_bulk_stopped' | 'gifts_bulk_unclear',
    message: string,
    state: GiftsBulkState,
    options?: ErrorOptions,
  ) {
    super(code, message, options);
    this.state = state;
  }
}

/** The state that a run begins with: a new one, or the one that was stored, if it belongs to the same order. */
export function beginBulk(order: string, stored?: GiftsBulkState): GiftsBulkState {
  if (stored === undefined) return { version: 1, order, created: [], totalHeldUsd: 0 };
  if (stored.version === 1 && stored.order === order && Array.isArray(stored.created)) return stored;
  throw new SvcInputError('invalid_input', 'resume belongs to another creation: pass what it was begun with.');
}
