import { toInteger } from '../contracts/byte-array.ts';

const MAGIC = new TextEncoder().encode('cctp-forward');
const MAGIC_BYTES = 24;
const VERSION = 0n;
/** One byte that asks for the token account, and the owner's key. */
const PAYLOAD_BYTES = 33;
const CREATE_ACCOUNT = 1;
const PAYLOAD_START = MAGIC_BYTES + 8;

export type ForwardHook =
  /** Whoever burned wants to mint for themselves. */
  | { readonly kind: 'none' }
  /** Forwarding is asked for in a way that cannot be followed. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'owner'; readonly owner: Uint8Array };

/** Reads whether a burn asks to be minted by the service, and for whom. */
export function readForwardHook(hook: Uint8Array): ForwardHook {
  if (!startsWithMagic(hook)) return { kind: 'none' };
  const version = toInteger(hook.subarray(MAGIC_BYTES, MAGIC_BYTES + 4));
  const length = toInteger(hook.subarray(MAGIC_BYTES + 4, PAYLOAD_START));
  const whole = hook.length === PAYLOAD_START + PAYLOAD_BYTES && length === BigInt(PAYLOAD_BYTES);
  if (!whole || version !== VERSION || hook[PAYLOAD_START] !== CREATE_ACCOUNT) return { kind: 'malformed' };
  return { kind: 'owner', owner: hook.subarray(PAYLOAD_START + 1) };
}

function startsWithMagic(hook: Uint8Array): boolean {
  if (hook.length < MAGIC_BYTES) return false;
  return hook.subarray(0, MAGIC_BYTES).every((byte, index) => byte === (MAGIC[index] ?? 0));
}
