import { describe, expect, it } from 'vitest';
import { answeringBody as answering, samples, startRateServer } from '../../testing/servers.ts';
import { banxicoSource } from './rate-sources.ts';

async function read(body: string) {
  const { url } = await startRateServer(answering(body));
  return banxicoSource({ token: 't', baseUrl: url }).mxnPerUsd();
}

describe('Banxico', () => {
  it('is asked for the FIX series with the token in its header', async () => {
    const server = await startRateServer(answering(samples.banxico('18.5123')));
    const rate = await banxicoSource({ token: 'bmx', baseUrl: `${server.url}/service/v1/` }).mxnPerUsd();
    expect(rate).toEqual({ mxnPerUsd: 18_512_300_000_000_000_000n, observedOn: '2026-07-17' });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.path).toBe('/service/v1/series/SF43718/datos/oportuno');
    expect(server.requests[0]?.headers['bmx-token']).toBe('bmx');
  });

  it('writes thousands with a comma', async () => {
    expect(await read(samples.banxico('1,234.5678'))).toMatchObject({ mxnPerUsd: 1_234_567_800_000_000_000_000n });
  });

  it('has no rate when it says N/E', async () => {
    await expect(read(samples.banxico('N/E'))).rejects.toMatchObject({ kind: 'no_rate' });
  });

  it.each([
    ['a comma that is no thousands comma', samples.banxico('18,5')],
    ['a sign', samples.banxico('-18.5')],
    ['no number', samples.banxico('')],
    ['another form of date', samples.banxico('18.5', '2026-07-17')],
    ['a day that does not exist', samples.banxico('18.5', '31/02/2026')],
    ['another series', samples.banxico('18.5').replace('SF43718', 'SF46410')],
    ['no series', '{"bmx":{"series":[]}}'],
    ['no data', '{"bmx":{"series":[{"idSerie":"SF43718","datos":[]}]}}'],
    ['an error', '{"error":{"mensaje":"Token inválido","detalle":"El token es inválido"}}'],
  ])('is not read with %s', async (_what, body) => {
    await expect(read(body)).rejects.toMatchObject({ kind: 'unreadable' });
  });
});
