import { describe, expect, it } from 'vitest';
import { answeringBody as answering, samples, startRateServer } from '../../testing/servers.ts';
import { ecbSource } from './rate-sources.ts';

async function read(body: string) {
  const { url } = await startRateServer(answering(body, 'text/xml'));
  return ecbSource({ url }).mxnPerUsd();
}

describe('the ECB', () => {
  it('gives pesos per dollar as the exact quotient of its two prices of a euro', async () => {
    expect(await read(samples.ecb('21.6216', '1.1688'))).toEqual({
      mxnPerUsd: 18_498_973_305_954_825_462n,
      observedOn: '2026-07-17',
    });
  });

  it('is read with double quotes and other spacing', async () => {
    const table = samples.ecb('20', '1').replaceAll("'", '"').replaceAll('/>', ' />').replaceAll('<Cube ', '<Cube\n  ');
    expect(await read(table)).toMatchObject({ mxnPerUsd: 20n * 10n ** 18n });
  });

  it('is refused when a euro costs no dollars', async () => {
    await expect(read(samples.ecb('20', '0'))).rejects.toMatchObject({ kind: 'implausible' });
  });

  it.each([
    ['no pesos', samples.ecb('21.6', '1.16').replace('MXN', 'MXV')],
    ['no dollars', samples.ecb('21.6', '1.16').replace('USD', 'USN')],
    ['no date', samples.ecb('21.6', '1.16').replace('time=', 'day=')],
    ['a negative price', samples.ecb('-21.6', '1.16')],
    ['words for prices', samples.ecb('N/A', '1.16')],
    ['a day that does not exist', samples.ecb('21.6', '1.16', '2026-02-31')],
    ['several days', samples.ecb('21.6', '1.16') + samples.ecb('21.5', '1.16', '2026-07-16')],
    ['half of the table', samples.ecb('21.6', '1.16').slice(0, 420)],
  ])('is not read with %s', async (_what, body) => {
    await expect(read(body)).rejects.toMatchObject({ kind: 'unreadable' });
  });
});
