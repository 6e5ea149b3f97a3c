import { describe, expect, it } from 'vitest';
import { failure, fakeClient, json, refusal } from '../../testing/fake-client.ts';
import { getConfig } from './config.ts';

describe('the configuration', () => {
  it('is requested once by concurrent operations', async () => {
    const { client, sent } = fakeClient([json({ network: 'one' })]);
    const answers = await Promise.all([getConfig(client), getConfig(client), getConfig(client)]);
    expect(answers).toEqual(Array(3).fill({ network: 'one' }));
    expect(sent).toHaveLength(1);
  });

  it('is requested again after five minutes, because an operator may change it', async () => {
    let now = 0;
    const runtime = { now: () => now };
    const { client } = fakeClient([json({ network: 'one' }), json({ network: 'two' })], { runtime });
    await getConfig(client);
    now = 299_999;
    expect(await getConfig(client)).toEqual({ network: 'one' });
    now = 300_000;
    expect(await getConfig(client)).toEqual({ network: 'two' });
  });

  it('is requested again after a failure', async () => {
    const { client } = fakeClient([refusal(400, 'chain_not_configured'), json({ network: 'one' })]);
    expect(await failure(getConfig(client))).toMatchObject({ code: 'chain_not_configured' });
    expect(await getConfig(client)).toEqual({ network: 'one' });
  });

  it('belongs to its client', async () => {
    const [one, other] = [fakeClient([json({ network: 'one' })]), fakeClient([json({ network: 'other' })])];
    expect(await getConfig(one.client)).toEqual({ network: 'one' });
    expect(await getConfig(other.client)).toEqual({ network: 'other' });
  });
});
