import { felt } from '../codec.ts';
import { variable } from '../storage.ts';

/** The account's own names. Both hold a Stark key, or zero. */
export const readyOwner = variable('_signer', felt);
export const readyGuardian = variable('_guardian', felt);
