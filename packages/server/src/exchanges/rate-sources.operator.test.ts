import { describe, expect, it } from 'vitest';
import { answeringBody as answering, startRateServer } from '../../testing/servers.ts';
import { formatRate } from './exchange.ts';
import { operatorSource } from './rate-sources.ts';

async function read(body: string) {
  const { url } = await startRateServer(answering(body));
  return operatorSource({ url }).mxnPerUsd();
}

describe("the operator's own source", () => {
  it('reads a number as it was written, not as a double has it', async () => {
    const { mxnPerUsd, observedOn } = await read('{"rate": 17.123456789012345678}');
    expect(formatRate(mxnPerUsd)).toBe('17.123456789012345678');
    expect(observedOn).toBeUndefined();
  });

  it('reads a string and an optional date', async () => {
    const rate = await read('{"rate": "18.5123", "date": "2026-07-17", "note": [1, null, {}]}');
    expect(rate).toEqual({ mxnPerUsd: 18_512_300_000_000_000_000n, observedOn: '2026-07-17' });
  });

  it('sends the bearer token where there is one, and the address as it was given', async () => {
    const server = await startRateServer(answering('{"rate": 18.5}'));
    await operatorSource({ url: `${server.url}/fx?key=k`, token: 'secret' }).mxnPerUsd();
    await operatorSource({ url: server.url }).mxnPerUsd();
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/fx?key=k', 'Bearer secret'],
      ['/', undefined],
    ]);
  });

  const unreadable = [
    '{}',
    '[]',
    'null',
    '"18.5"',
    '18.5',
    '{"rate": null}',
    '{"rate": true}',
    '{"rate": [18.5]}',
    '{"rate": -18.5}',
    '{"rate": 1.85e1}',
    '{"rate": "18,5"}',
    '{"rate": "NaN"}',
    '{"rate": 18.5, "date": "17/07/2026"}',
    `{"rate": ${'9'.repeat(400)}}`,
    '{"__proto__": {"rate": 18.5}}',
    `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
  ];
  it.each(unreadable.map((body) => [body.slice(0, 40), body]))('does not read %s', async (_beginning, body) => {
    await expect(read(body)).rejects.toMatchObject({ name: 'RateSourceError', kind: 'unreadable' });
  });
});
