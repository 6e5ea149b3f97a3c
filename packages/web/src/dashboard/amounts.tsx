import type { Chain, ChainToken } from '@svc/protocol';
import { useCallback } from 'react';
import { Money } from '../ui/values.tsx';
import { useRead } from './api.ts';

export const FRI_DECIMALS = 18;

/** Decimals of the tokens that the deployment knows; undefined while they load, and where no chain is configured. */
export function useDecimals(): (chain: Chain, token: ChainToken) => number | undefined {
  const { data } = useRead('GET /config');
  return useCallback(
    (chain, token) => data?.tokens.find((known) => known.chain === chain && known.token === token)?.decimals,
    [data],
  );
}

export interface TokenAmountProps {
  raw: string | undefined;
  token: ChainToken | null | undefined;
  decimals: number | undefined | null;
}

export function TokenAmount({ raw, token, decimals }: TokenAmountProps) {
  if (raw === undefined) return <>–</>;
  if (!token || decimals == null) return <span className="number">{raw}</span>;
  return <Money amount={withDecimals(raw, decimals)} unit={token} />;
}

/** A fee has eighteen digits; six tell fees apart. */
const GAS_PLACES = [0, 6] as const;

export function Gas({ fri }: { fri: string | null }) {
  return fri === null ? <>–</> : <Money amount={withDecimals(fri, FRI_DECIMALS)} unit="STRK" places={GAS_PLACES} />;
}

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
