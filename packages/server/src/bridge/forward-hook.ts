import { type SolanaAddress, solanaAddressBytes } from '@svc/protocol';

const MAGIC = 'cctp-forward';
const MAGIC_BYTES = 24;
const VERSION = 0;
/** Asks for the owner's token account to be made where it does not exist. */
const CREATE_ACCOUNT = 1;

/** What a burn carries so that the bridge mints by itself: we need no key and no money on Solana. */
export function forwardHook(owner: SolanaAddress): Uint8Array {
  const payload = Uint8Array.of(CREATE_ACCOUNT, ...solanaAddressBytes(owner));
  const hook = Buffer.alloc(MAGIC_BYTES + 8 + payload.length);
  hook.write(MAGIC, 'ascii');
  hook.writeUInt32BE(VERSION, MAGIC_BYTES);
  hook.writeUInt32BE(payload.length, MAGIC_BYTES + 4);
  hook.set(payload, MAGIC_BYTES + 8);
  return Uint8Array.from(hook);
}
