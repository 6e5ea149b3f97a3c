import type { BearerToken, Client } from '../client/client.ts';
import type { PurchaseState } from './purchase-state.ts';

/** What every step of one purchase needs. */
export interface PurchaseRun {
  readonly client: Client;
  readonly bearerToken: BearerToken | undefined;
  /** Whether an earlier run may have been further than its state says. */
  readonly resumed: boolean;
  /** Answers when the app has stored it. */
  readonly save: (state: PurchaseState) => Promise<void>;
}

export type PaidState = PurchaseState & { readonly transactionHash: string };
