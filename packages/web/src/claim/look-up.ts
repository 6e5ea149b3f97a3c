import { type Client, claimGift, SvcInputError } from '@svc/sdk';
import type { Screen } from './screen.ts';
import { troubleOf, troubleOfReason } from './trouble.ts';

/** What a code gives, or why it gives nothing. */
export async function lookUp(client: Client, code: string): Promise<Screen> {
  try {
    const claim = await claimGift(client, { code });
    return claim.valid ? { at: 'gift', claim } : { at: 'trouble', trouble: troubleOfReason(claim.reason) };
  } catch (error) {
    const trouble = error instanceof SvcInputError ? 'notFound' : troubleOf(error);
    // A code that the service cannot even read is one that it does not know.
    return { at: 'trouble', trouble: trouble === 'addressRefused' ? 'notFound' : trouble };
  }
}
