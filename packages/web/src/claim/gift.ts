import type { RedeemChain } from '@svc/protocol';
import { type Client, claimGift, SvcInputError } from '@svc/sdk';
import { errorCodeOf, errorCodeOfReason } from './errors.ts';
import type { InvalidClaim, Screen, ValidClaim } from './screen.ts';

export async function lookUpGift(client: Client, code: string): Promise<Screen> {
  try {
    const claim = await claimGift(client, { code });
    if (claim.valid) return { at: 'gift', claim };
    return { at: 'error', errorCode: errorCodeOfReason(claim.reason), about: claim };
  } catch (error) {
    const errorCode = error instanceof SvcInputError ? 'notFound' : errorCodeOf(error);
    // The service rejects malformed codes as invalid; for the user they do not exist.
    return { at: 'error', errorCode: errorCode === 'addressRefused' ? 'notFound' : errorCode };
  }
}

/** Of the organisation, as it calls itself. */
export const nameOf = ({ brand, orgName }: Pick<ValidClaim | InvalidClaim, 'brand' | 'orgName'>): string =>
  brand?.name ?? orgName ?? '';

/** The last path segment; empty on a page without a code. */
export function readCode(pathname: string): string {
  const last = pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** Transaction URLs with a `{hash}` placeholder. */
export type Explorers = Partial<Record<RedeemChain, string>>;

/** From the page's meta tag; empty on the sandbox. */
export function readExplorers(text: string): Explorers {
  return text === '' ? {} : (JSON.parse(text) as Explorers);
}

export function explorerLink(explorers: Explorers, chain: RedeemChain, hash: string): string | undefined {
  return explorers[chain]?.replace('{hash}', encodeURIComponent(hash));
}
