import { keccak } from '@scure/starknet';

export { pedersen, pedersenMany } from './pedersen.ts';
export { poseidon, poseidonMany } from './poseidon.ts';

const encoder = new TextEncoder();

/** Keccak-256 of the text, cut to 250 bits so that it is a felt. */
export function starknetKeccak(text: string): bigint {
  return keccak(encoder.encode(text));
}
