import type { Environment } from '@svc/protocol';

/** Addresses as the database keeps them; hashes are there without padding. */
export const padded = (address: bigint): string => `0x${address.toString(16).padStart(64, '0')}`;

/** What must not happen twice: an outside execution is known by its wallet and its nonce. */
export const outsidePurpose = (wallet: bigint, nonce: bigint): string =>
  `outside ${padded(wallet)} 0x${nonce.toString(16)}`;

/** A task for each environment: a process takes only the jobs of networks that it has. */
export const tenderTask = (environment: Environment): string => `tend-relayer-${environment}`;
