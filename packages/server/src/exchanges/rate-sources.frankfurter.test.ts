import { describe, expect, it } from 'vitest';
import { answeringBody as answering, samples, startRateServer } from '../../testing/servers.ts';
import { frankfurterSource } from './rate-sources.ts';

async function read(body: string) {
  const { url } = await startRateServer(answering(body));
  return frankfurterSource({ baseUrl: url }).mxnPerUsd();
}

describe('Frankfurter', () => {
  it("is asked for Banxico's rate of the dollar in pesos", async () => {
    const server = await startRateServer(answering(samples.frankfurter('18.51234')));
    const rate = await frankfurterSource({ baseUrl: server.url }).mxnPerUsd();
    expect(rate).toEqual({ mxnPerUsd: 18_512_340_000_000_000_000n, observedOn: '2026-07-17' });
    expect(server.requests.map(({ path }) => path)).toEqual(['/v2/rate/USD/MXN?providers=BANXICO']);
  });

  it.each([
    ['the opposite pair', '{"date":"2026-07-17","base":"MXN","quote":"USD","rate":18.5}'],
    ['another currency', '{"date":"2026-07-17","base":"USD","quote":"BRL","rate":5.5}'],
    ['no date', '{"base":"USD","quote":"MXN","rate":18.5}'],
    ['no rate', '{"date":"2026-07-17","base":"USD","quote":"MXN"}'],
    ['a negative rate', samples.frankfurter('-18.5')],
    ['the form of version 1', '{"amount":1.0,"base":"USD","date":"2026-07-17","rates":{"MXN":18.5}}'],
    ['a list', `[${samples.frankfurter('18.5')}]`],
  ])('is not read with %s', async (_what, body) => {
    await expect(read(body)).rejects.toMatchObject({ kind: 'unreadable' });
  });
});
