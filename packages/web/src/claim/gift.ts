import type { RedeemChain } from '@svc/protocol';
import { type Client, claimGift, SvcInputError } from '@svc/sdk';
import { troubleOf, troubleOfReason } from './errors.ts';
import type { Screen } from './screen.ts';

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

/** The code at the end of the page's address; empty where a person came without one. */
export function readCode(pathname: string): string {
  const last = pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** Where anyone can look a transaction up, with `{hash}` in place of its hash. */
export type Explorers = Partial<Record<RedeemChain, string>>;

/** What the service wrote into the page. On the sandbox there is none. */
export function readExplorers(text: string): Explorers {
  return text === '' ? {} : (JSON.parse(text) as Explorers);
}

export function explorerLink(explorers: Explorers, chain: RedeemChain, hash: string): string | undefined {
  return explorers[chain]?.replace('{hash}', encodeURIComponent(hash));
}
