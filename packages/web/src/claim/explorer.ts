import type { RedeemChain } from '@svc/protocol';

/** Where anyone can look a transaction up, with `{hash}` in place of its hash. */
export type Explorers = Partial<Record<RedeemChain, string>>;

/** What the service wrote into the page. On the sandbox there is none. */
export function readExplorers(text: string): Explorers {
  return text === '' ? {} : (JSON.parse(text) as Explorers);
}

export function explorerLink(explorers: Explorers, chain: RedeemChain, hash: string): string | undefined {
  return explorers[chain]?.replace('{hash}', encodeURIComponent(hash));
}
