import { once } from 'node:events';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { AddressGuard } from './address-guard.ts';
import { OutboundError, toOutboundError } from './outbound-error.ts';
import { hostOf, portOf } from './target.ts';

// Enough to step over a dead address or family; a name with hundreds must not make us knock on hundreds of doors.
const MAX_ADDRESSES_TRIED = 8;

/**
 * A new connection to the target, ready for HTTP. The name is resolved once and the connection goes to the addresses that were
 * checked, so a second DNS answer is never asked for. Aborting the signal destroys the connection.
 */
export async function openConnection(target: URL, guard: AddressGuard, signal: AbortSignal): Promise<Socket> {
  try {
    const addresses = await checkedAddresses(target, guard);
    signal.throwIfAborted();
    const socket = await connectToAny(addresses, target, signal);
    // Before the first byte, TLS greeting included: trust what the socket says, not what was asked for.
    if (!guard.allows(socket.remoteAddress ?? '', target)) throw forbidden(target);
    return target.protocol === 'https:' ? await secure(socket, target) : socket;
  } catch (error) {
    throw toOutboundError('connect', `No connection to ${target.host}`, error);
  }
}

async function checkedAddresses(target: URL, guard: AddressGuard): Promise<readonly string[]> {
  const host = hostOf(target);
  const addresses = isIP(host) === 0 ? await guard.lookup(host) : [host];
  if (addresses.length === 0) throw new OutboundError('connect', `${target.host} has no address`);
  // One forbidden address among public ones is how rebinding begins, so it condemns the name.
  if (!addresses.every((address) => guard.allows(address, target))) throw forbidden(target);
  return addresses.slice(0, MAX_ADDRESSES_TRIED);
}

async function connectToAny(addresses: readonly string[], target: URL, signal: AbortSignal): Promise<Socket> {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  // Node asks for all addresses because of autoSelectFamily, and skips the lookup where the host is an IP literal.
  const lookup: LookupFunction = (_host, _options, answer) => process.nextTick(answer, null, answers);
  const socket = connectTcp({ host: hostOf(target), port: portOf(target), lookup, autoSelectFamily: true, signal });
  socket.on('error', ignore);
  await once(socket, 'connect');
  return socket;
}

async function secure(socket: Socket, target: URL): Promise<Socket> {
  const host = hostOf(target).replace(/\.$/, '');
  const secured = connectTls({
    socket,
    // The certificate must be the host's; the name is sent along, an IP literal may not be.
    host,
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  });
  secured.on('error', ignore);
  await once(secured, 'secureConnect');
  return secured;
}

function forbidden(target: URL): OutboundError {
  return new OutboundError('forbidden_address', `${target.host} does not lead to a public address`);
}

// Whoever waits for the socket hears of the error; this keeps a late one, after the answer, from ending the process.
function ignore(): void {}
