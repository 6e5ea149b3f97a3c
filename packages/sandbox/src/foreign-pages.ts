import { ApiError } from '@svc/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface OwnAddress {
  /** The service's address, where its operator named one. */
  readonly publicUrl?: string | undefined;
  /** The service listens on this machine only. */
  readonly isLocal?: boolean;
}

/** A node serves any page, as public nodes do; so does a key set. */
const OPEN = /\/(?:starknet\/rpc|evm\/[^/]+\/rpc|identity\/jwks\.json)(?:\/|$)/;

/**
 * A page of the internet must not read the mailbox or drive the sandbox of the machine that shows it. Pages of this service and of
 * loopback may, and so do programs, which send no `Origin`.
 */
export function refuseForeignPages(app: FastifyInstance, own: OwnAddress = {}): void {
  app.addHook('onRequest', async (request, reply) => {
    if (OPEN.test(request.routeOptions.url ?? '')) return;
    const refusal = refusalOf(request, own);
    if (refusal === undefined) return;
    reply.removeHeader('access-control-allow-origin');
    throw new ApiError('origin_not_allowed', refusal, { status: 403 });
  });
}

export function refusalOf(
  { headers, host }: Pick<FastifyRequest, 'headers' | 'host'>,
  { publicUrl, isLocal = false }: OwnAddress,
): string | undefined {
  const publicHost = publicUrl === undefined ? undefined : hostOf(publicUrl);
  const given = hostOf(`http://${host}`);
  // Another name for a local service is one that a page made its own domain lead here.
  if (isLocal && publicHost === undefined && given !== undefined && !isLoopback(given)) {
    return 'The sandbox does not answer under this name. Set PUBLIC_URL to the address that you use.';
  }
  if (headers.origin === undefined) return undefined;
  const origin = hostOf(headers.origin);
  const isOwn = origin !== undefined && (origin === given || origin === publicHost || isLoopback(origin));
  return isOwn ? undefined : 'Pages of other sites must not use the sandbox.';
}

/** With the port; undefined for `null`, the origin of a page without one. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

function isLoopback(host: string): boolean {
  const name = host.replace(/:\d+$/, '');
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(name);
}
