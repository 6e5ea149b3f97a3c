import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { Environment } from '@svc/protocol';

const MAX_URL_LENGTH = 2048;

/** The WHATWG parser normalises every spelling of an IPv4 address (127.1, 0x7f000001, full-width digits). */
export function parseTarget(url: string | URL): URL {
  const text = String(url);
  if (text.length > MAX_URL_LENGTH) throw invalid(`The URL is longer than ${MAX_URL_LENGTH} characters.`);
  if (!URL.canParse(text)) throw invalid('The URL cannot be read.');
  const target = new URL(text);
  if (target.protocol !== 'http:' && target.protocol !== 'https:') throw invalid('The URL must be http or https.');
  if (target.username !== '' || target.password !== '') throw invalid('The URL must not contain a user or password.');
  return target;
}

export const hostOf = (target: URL): string => target.hostname.replace(/^\[(.*)\]$/, '$1');

export function portOf(target: URL): number {
  if (target.port !== '') return Number(target.port);
  return target.protocol === 'https:' ? 443 : 80;
}

function invalid(message: string): OutboundError {
  return new OutboundError('invalid_url', message);
}

export type OutboundErrorKind =
  | 'invalid_url'
  | 'forbidden_address'
  | 'connect' // name, network or certificate
  | 'protocol' // no whole HTTP answer, or a request that HTTP cannot express
  | 'too_large'
  | 'timeout';

/** Safe to show to a tenant: names the host only, and has no cause, which would hold addresses and raw bytes. */
export class OutboundError extends Error {
  readonly kind: OutboundErrorKind;

  constructor(kind: OutboundErrorKind, message: string) {
    super(message);
    this.name = 'OutboundError';
    this.kind = kind;
  }
}

export function toOutboundError(kind: OutboundErrorKind, message: string, error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return new OutboundError(kind, message + code);
}

export type Lookup = (hostname: string) => Promise<readonly string[]>;

export interface AddressGuard {
  readonly lookup: Lookup;
  allows(address: string, url: URL): boolean;
}

interface PublicOnlyOptions {
  readonly allowLoopback?: boolean;
  readonly allowOrigins?: readonly string[];
  readonly lookup?: Lookup;
}

/** For URLs of tenants: the public internet only. */
export function publicOnly(options: PublicOnlyOptions = {}): AddressGuard {
  const { allowLoopback = false, allowOrigins = [], lookup = lookupAll } = options;
  const origins = new Set(allowOrigins.map(parseOrigin));
  return {
    lookup,
    allows: (address, url) =>
      !isForbiddenAddress(address) || (allowLoopback && isLoopbackAddress(address)) || origins.has(url.origin),
  };
}

/** By environment: some deployments let development reach this machine. */
export function guardOfTenants(
  loopbackEnvironments: readonly Environment[],
  lookup?: Lookup,
): (environment: Environment) => AddressGuard {
  const open = publicOnly({ allowLoopback: true, ...(lookup && { lookup }) });
  const closed = publicOnly({ ...(lookup && { lookup }) });
  return (environment) => (loopbackEnvironments.includes(environment) ? open : closed);
}

/** For URLs that the operator configured; they may be in a private network. */
export const trusted = (): AddressGuard => ({ lookup: lookupAll, allows: () => true });

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

type Subnet = readonly [network: string, prefix: number];

const FORBIDDEN_IPV4: readonly Subnet[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by carriers
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // looks public, but is the platform's own service on every Azure machine
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // class E, broadcast
];

// Other IPv6 addresses (loopback, ULA, link-local, multicast, NAT64, IPv4-mapped, …) are refused.
const GLOBAL_UNICAST_IPV6: readonly Subnet[] = [['2000::', 3]];

const FORBIDDEN_GLOBAL_IPV6: readonly Subnet[] = [
  ['2001::', 23], // special purpose: Teredo, ORCHID, benchmarks
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, carries any IPv4 address
  ['3fff::', 20], // documentation
];

const forbiddenIpv4 = blockList('ipv4', FORBIDDEN_IPV4);
const globalUnicastIpv6 = blockList('ipv6', GLOBAL_UNICAST_IPV6);
const forbiddenGlobalIpv6 = blockList('ipv6', FORBIDDEN_GLOBAL_IPV6);
const loopbackIpv4 = blockList('ipv4', [['127.0.0.0', 8]]);
const loopbackIpv6 = blockList('ipv6', [['::1', 128]]);

/** True for addresses outside the public internet, and for text that is no IP literal. */
export function isForbiddenAddress(ip: string): boolean {
  switch (familyOf(ip)) {
    case 'ipv4':
      return forbiddenIpv4.check(ip, 'ipv4');
    case 'ipv6':
      return !globalUnicastIpv6.check(ip, 'ipv6') || forbiddenGlobalIpv6.check(ip, 'ipv6');
    default:
      return true;
  }
}

/** 127.0.0.0/8 and ::1 only, not other forms that lead there (0.0.0.0, IPv4-mapped). */
export function isLoopbackAddress(ip: string): boolean {
  switch (familyOf(ip)) {
    case 'ipv4':
      return loopbackIpv4.check(ip, 'ipv4');
    case 'ipv6':
      return loopbackIpv6.check(ip, 'ipv6');
    default:
      return false;
  }
}

function familyOf(ip: string): 'ipv4' | 'ipv6' | undefined {
  const version = ip.includes('%') ? 0 : isIP(ip);
  if (version === 4) return 'ipv4';
  return version === 6 ? 'ipv6' : undefined;
}

function blockList(family: 'ipv4' | 'ipv6', subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family);
  return list;
}

export interface TenantUrlOptions {
  readonly allowLoopback: boolean;
}

const LOCAL_NAME = /(^|\.)localhost\.?$/;
const NOT_HTTPS = 'must be an address that starts with https://';

/** Finds URLs that can never work, when they are set. The addresses of a name are checked at every connection. */
export function faultOfTenantUrl(text: string, { allowLoopback }: TenantUrlOptions): string | undefined {
  if (/[\s\p{Cc}]/u.test(text)) return 'must not contain blanks';
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(text)) return NOT_HTTPS;
  const target = new URL(text);
  if (target.protocol !== 'https:' && target.protocol !== 'http:') return NOT_HTTPS;
  if (target.username !== '' || target.password !== '') return 'must not contain a user or password';
  const host = hostOf(target);
  if (isLoopbackAddress(host) || LOCAL_NAME.test(host)) {
    return allowLoopback ? undefined : 'must lead to a public address, not to this machine';
  }
  if (target.protocol !== 'https:') return NOT_HTTPS;
  return isIP(host) !== 0 && isForbiddenAddress(host) ? 'must lead to a public address' : undefined;
}
