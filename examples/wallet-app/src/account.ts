import type { SvcWallet } from '@svc/sdk';
import type { Svc } from './backend.ts';

/** The user who is signed in, and their wallet. */
export interface Account {
  readonly name: string;
  readonly svc: Svc;
  readonly wallet: SvcWallet;
}
