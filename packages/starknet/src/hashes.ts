import { keccak } from '@scure/starknet';

export { pedersen, pedersenEach, pedersenMany } from './pedersen.ts';
export { poseidon, poseidonMany } from './poseidon.ts';

const encoder = new TextEncoder();

export function starknetKeccak(text: string): bigint {
  return keccak(encoder.encode(text));
}
