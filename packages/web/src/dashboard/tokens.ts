import { useRead } from './api.ts';

/** Raw amounts as decimals: `1500000` of USDC is `1.5`. The raw text until the token is known. */
export function useTokenAmount(): (raw: string, token: string | undefined) => string {
  const { data } = useRead('GET /config');
  return (raw, token) => {
    const decimals = data?.tokens.find((known) => known.token === token)?.decimals;
    return decimals === undefined ? raw : withDecimals(raw, decimals);
  };
}

/** Digits as text, so that none is lost. */
export function withDecimals(raw: string, decimals: number): string {
  const text = raw.padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  const rest = text.slice(text.length - decimals).replace(/0+$/, '');
  return rest === '' ? whole : `${whole}.${rest}`;
}
