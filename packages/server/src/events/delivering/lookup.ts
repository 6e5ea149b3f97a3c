import { promises as dns } from 'node:dns';
import type { Lookup } from '../../outbound/address-guard.ts';

/** Two looks, of two seconds and of four: an attempt has twenty for everything. */
const TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * Asks DNS itself. The system's own look-up would hold one of the few threads that all look-ups, files and compression of the process
 * share, for as long as a name server of somebody's webhook keeps silent.
 */
export function createLookup(servers?: readonly string[]): Lookup {
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  return async (hostname) => {
    const name = hostname.replace(/\.$/, '');
    // No name server is asked for it, and no file is read.
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    throw answers.find((answer) => answer.status === 'rejected')?.reason ?? new Error('The name has no address.');
  };
}
