import { CURVE_ORDER } from '@svc/starknet';
import { defaultRuntime, type Runtime } from '../client/runtime.ts';
import { integer } from './private-key.ts';

/** Half as many again as a key has: what the remainder favours is then less than one part in 2^128. */
const RANDOM_BYTES = 48;

/** A private key of the Stark curve, each as likely as any other. */
export function newPrivateKey(runtime: Runtime = defaultRuntime): bigint {
  return (integer(runtime.randomBytes(RANDOM_BYTES)) % (CURVE_ORDER - 1n)) + 1n;
}
