/** As many as a request to prepare calls may have. */
export const MAX_CALLS = 64;
/** Starknet takes 5,000 felts of calldata; the rest is for what wraps the calls: deployment, window and signature. */
export const MAX_FELTS = 4_500;
/** The contract, the selector and the number of arguments. */
const FELTS_PER_CALL = 3;

/** What calls take of a transaction's calldata. */
export function feltsOf(calls: readonly { readonly calldata: readonly unknown[] }[]): number {
  return calls.reduce((sum, { calldata }) => sum + FELTS_PER_CALL + calldata.length, 0);
}
