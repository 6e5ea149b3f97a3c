import { toBytes } from '../contracts/byte-array.ts';
import { SOLANA_DOMAIN } from '../contracts/cctp/constants.ts';
import { type Attestation, type Burn, type ForwardState, isMinted } from './burns.ts';
import { slotAt } from './clock.ts';
import { feeOf, isFast } from './fees.ts';
import { readForwardHook } from './forward-hook.ts';
import type { BridgeSettings } from './settings.ts';
import { usdcTokenAccount } from './token-account.ts';

/** A day of slots, as long as a fast attestation is good for. */
const LIFETIME_SLOTS = 216_000n;

/** Whether the service knows of the burn at all. */
export function isIndexed({ fault, attestation, burnedAt }: Burn, settings: BridgeSettings, now: number): boolean {
  if (fault?.kind === 'never-indexed') return false;
  return attestation !== undefined || now >= burnedAt + settings.indexedSeconds;
}

/** How far a burn has come at a time. What was reached stays, also when settings change or the clock is set back. */
export function progress(burn: Burn, settings: BridgeSettings, now: number): Burn {
  if (burn.fault?.kind === 'never-indexed') return burn;
  const attestation = burn.attestation ?? attestationAt(burn, settings, now);
  if (!attestation) return burn;
  const attested = { ...burn, attestation: obeyExpiry(burn, attestation) };
  return { ...attested, forwardState: forwardStateAt(attested, attested.attestation, settings, now) };
}

/** Attests anew what was too old or not forwarded; anything else stays as it is. */
export function renew(burn: Burn, now: number): Burn {
  const { attestation, fault } = burn;
  if (!attestation || isMinted(burn)) return burn;
  const expired = isExpired(attestation, now);
  if (!expired && fault?.kind !== 'forward-failed') return burn;
  const expirationBlock = attestation.expirationBlock === 0n ? 0n : slotAt(now) + LIFETIME_SLOTS;
  return {
    ...burn,
    fault: fault?.kind === 'expired' || fault?.kind === 'forward-failed' ? undefined : fault,
    attestation: { ...attestation, completedAt: now, expirationBlock },
    forwardState: undefined,
  };
}

function attestationAt(burn: Burn, settings: BridgeSettings, now: number): Attestation | undefined {
  const { amount, maxFee, minFinalityThreshold, hookData } = burn.sent;
  const fast = isFast(minFinalityThreshold);
  const wait = Math.max(settings.indexedSeconds, fast ? settings.fastSeconds : settings.standardSeconds);
  const completedAt = burn.burnedAt + wait + (burn.fault?.delaySeconds ?? 0);
  if (now < completedAt) return undefined;
  const forwarded = readForwardHook(hookData).kind !== 'none';
  return {
    completedAt,
    feeExecuted: feeOf({ amount, maxFee, fast, forwarded }, settings),
    expirationBlock: fast ? slotAt(completedAt) + LIFETIME_SLOTS : 0n,
  };
}

function obeyExpiry(burn: Burn, attestation: Attestation): Attestation {
  if (burn.fault?.kind !== 'expired' || isMinted(burn)) return attestation;
  return { ...attestation, expirationBlock: slotAt(attestation.completedAt) - 1n };
}

function isExpired({ expirationBlock }: Attestation, at: number): boolean {
  return expirationBlock !== 0n && expirationBlock < slotAt(at);
}

function forwardStateAt(
  burn: Burn,
  attestation: Attestation,
  { forwardSeconds }: BridgeSettings,
  now: number,
): ForwardState | undefined {
  if (burn.forwardState === 'COMPLETE') return 'COMPLETE';
  const passed = now - attestation.completedAt;
  if (burn.forwardState === 'CONFIRMED') return passed >= forwardSeconds ? 'COMPLETE' : 'CONFIRMED';
  const hook = readForwardHook(burn.sent.hookData);
  if (hook.kind === 'none') return undefined;
  // The forwarder sets out at once, so what counts is whether the attestation was good then.
  const refused =
    hook.kind === 'malformed' || !mayMint(burn, hook.owner) || isExpired(attestation, attestation.completedAt);
  if (refused || burn.fault?.kind === 'forward-failed') return 'FAILED';
  if (passed >= forwardSeconds) return 'COMPLETE';
  return passed * 2 >= forwardSeconds ? 'CONFIRMED' : 'PENDING';
}

/** The money goes to the account of the owner that the hook names, or nowhere. */
function mayMint({ sent }: Burn, owner: Uint8Array): boolean {
  if (sent.destinationDomain !== SOLANA_DOMAIN || sent.destinationCaller !== 0n) return false;
  const recipient = toBytes(sent.mintRecipient, 32);
  return recipient !== undefined && Buffer.compare(usdcTokenAccount(owner), recipient) === 0;
}
