import type { RateSource } from '../rate-source.ts';
import { banxicoSource } from './banxico.ts';
import { ecbSource } from './ecb.ts';
import { frankfurterSource } from './frankfurter.ts';
import { operatorSource } from './operator.ts';

export interface RateSourceSettings {
  readonly operatorUrl?: string | undefined;
  readonly operatorToken?: string | undefined;
  readonly banxicoToken?: string | undefined;
  readonly banxicoUrl?: string | undefined;
  readonly frankfurterUrl?: string | undefined;
  readonly ecbUrl?: string | undefined;
}

/** The sources of a deployment, in the order in which they are asked. */
export function sourcesInOrder(settings: RateSourceSettings = {}): readonly RateSource[] {
  const { operatorUrl, operatorToken, banxicoToken, banxicoUrl, frankfurterUrl, ecbUrl } = settings;
  return [
    ...(operatorUrl ? [operatorSource({ url: operatorUrl, token: operatorToken })] : []),
    ...(banxicoToken ? [banxicoSource({ token: banxicoToken, baseUrl: banxicoUrl })] : []),
    frankfurterSource({ baseUrl: frankfurterUrl }),
    ecbSource({ url: ecbUrl }),
  ];
}
