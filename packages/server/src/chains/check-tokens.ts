import type { ChainToken } from '@svc/protocol';
import { ChainUnavailableError } from './node-failure.ts';
import type { Token } from './tokens.ts';

/** The table says something else of a token than its contract: every amount would be wrong by powers of ten. */
export class WrongTokenError extends Error {
  override readonly name = 'WrongTokenError';
}

/** Asks every token's contract for its decimals. What cannot be asked at the moment is answered, for the log. */
export async function checkTokens(
  tokens: readonly Token[],
  decimalsOf: (address: string) => Promise<number | undefined>,
): Promise<readonly ChainToken[]> {
  const unasked = await Promise.all(
    tokens.map(async ({ chain, token, address, decimals }) => {
      if (address === null) return [];
      const found = await decimalsOf(address).catch((error: unknown) => {
        if (error instanceof ChainUnavailableError) return undefined;
        throw error;
      });
      if (found === undefined) return [token];
      if (found === decimals) return [];
      throw new WrongTokenError(
        `${token} on ${chain} has ${found} decimals, but svc takes it to have ${decimals}. Nothing was started.`,
      );
    }),
  );
  return unasked.flat();
}
