import { isIPv4, isIPv6 } from 'node:net';

/** A household or a server has a whole network of IPv6 addresses to choose from, so they count as one. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/**
 * The client of a request as limits count it: an IPv4 address, or the first 64 bits of an IPv6 address. What is neither (only a
 * proxy that is trusted could say so) is one client together.
 */
export function clientOf(ip: string): string {
  const [address = ''] = ip.split('%', 1);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(mapped)) return 'unknown';
  return `${groupsOf(mapped).slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** The eight groups, without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = withoutDots(address).toLowerCase().split('::');
  const read = (part: string) => (part === '' ? [] : part.split(':').map((group) => group.replace(/^0+(?=.)/, '')));
  const [first, last] = [read(head), read(tail ?? '')];
  const zeros = new Array<string>(GROUPS - first.length - last.length).fill('0');
  return [...first, ...zeros, ...last];
}

/** The last two groups may be spelt like an IPv4 address. */
function withoutDots(address: string): string {
  return address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
}
