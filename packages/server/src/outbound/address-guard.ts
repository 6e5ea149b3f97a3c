import { lookup as systemLookup } from 'node:dns/promises';
import { isForbiddenAddress, isLoopbackAddress } from './forbidden-addresses.ts';

/** All addresses of a host name, in the order in which to try them. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** Decides where a request may connect to. It is asked for every address before connecting, and once more for the connected one. */
export interface AddressGuard {
  readonly lookup: Lookup;
  allows(address: string, url: URL): boolean;
}

export interface PublicOnlyOptions {
  /** Lets 127.0.0.0/8 and ::1 through, for development on one machine. */
  readonly allowLoopback?: boolean;
  /** Origins (`http://keys.internal:8080`) that the operator vouches for, whatever their address. */
  readonly allowOrigins?: readonly string[];
  /** Stands in for the system's resolver in tests. */
  readonly lookup?: Lookup;
}

/** For addresses that tenants give us: nothing but the public internet. */
export function publicOnly(options: PublicOnlyOptions = {}): AddressGuard {
  const allowLoopback = options.allowLoopback ?? false;
  const origins = new Set((options.allowOrigins ?? []).map(parseOrigin));
  return {
    lookup: options.lookup ?? lookupAll,
    allows: (address, url) =>
      !isForbiddenAddress(address) || (allowLoopback && isLoopbackAddress(address)) || origins.has(url.origin),
  };
}

/** For addresses that the operator configured: they may well be inside the operator's own network. */
export function trusted(): AddressGuard {
  return { lookup: lookupAll, allows: () => true };
}

async function lookupAll(hostname: string): Promise<string[]> {
  const answers = await systemLookup(hostname, { all: true });
  return answers.map((answer) => answer.address);
}

function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!isOrigin) throw new TypeError(`Not an origin such as https://example.com:8443: ${text}`);
  return url.origin;
}
