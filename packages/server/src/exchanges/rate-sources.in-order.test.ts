import { describe, expect, it } from 'vitest';
import { answeringBody as answering, samples, startRateServer } from '../../testing/servers.ts';
import { sourcesInOrder } from './rate-sources.ts';

const namesOf = (settings: Parameters<typeof sourcesInOrder>[0]) => sourcesInOrder(settings).map(({ name }) => name);

describe('the sources of a deployment', () => {
  it('are the operator, Banxico, Frankfurter and the ECB, as far as they are configured', () => {
    expect(namesOf({ operatorUrl: 'https://rates.example', banxicoToken: 't' })).toEqual([
      'operator',
      'banxico',
      'frankfurter',
      'ecb',
    ]);
    expect(namesOf({ banxicoToken: 't' })).toEqual(['banxico', 'frankfurter', 'ecb']);
    expect(namesOf({})).toEqual(['frankfurter', 'ecb']);
  });

  it('are found at the addresses of the configuration', async () => {
    const server = await startRateServer((request, response) => {
      const path = request.url ?? '';
      if (path.startsWith('/ecb')) return answering(samples.ecb('18.5', '1'))(request, response);
      if (path.startsWith('/banxico')) return answering(samples.banxico('18.5'))(request, response);
      return answering(samples.frankfurter('18.5'))(request, response);
    });
    const sources = sourcesInOrder({
      operatorUrl: `${server.url}/operator`,
      banxicoToken: 't',
      banxicoUrl: `${server.url}/banxico`,
      frankfurterUrl: `${server.url}/frankfurter`,
      ecbUrl: `${server.url}/ecb`,
    });
    for (const source of sources) expect(await source.mxnPerUsd()).toMatchObject({ mxnPerUsd: 185n * 10n ** 17n });
    expect(server.requests.map(({ path }) => path.split('/')[1])).toEqual([
      'operator',
      'banxico',
      'frankfurter',
      'ecb',
    ]);
  });
});
