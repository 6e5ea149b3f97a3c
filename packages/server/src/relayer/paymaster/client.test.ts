import { describe, expect, it, onTestFinished } from 'vitest';
import { type Behaviour, behave, deadUrl, startFaultyNode } from '../../../testing/faulty-node.ts';
import { createPaymasterClient, type ExecuteRequest } from './client.ts';

const request: ExecuteRequest = {
  transaction: { type: 'invoke', invoke: { user_address: '0x1', typed_data: {}, signature: ['0x5ec2e7'] } },
  parameters: {
    version: '0x1',
    fee_mode: { mode: 'sponsored' },
    time_bounds: { execute_after: 1, execute_before: 2 },
  },
};

async function execute(behaviour: Behaviour, access: { timeoutMs?: number } = {}) {
  const node = await startFaultyNode(behaviour);
  onTestFinished(node.stop);
  const answer = await createPaymasterClient({ url: node.url, apiKey: 'pm-key', ...access }).execute(request);
  return { answer, requests: node.requests };
}

describe('the paymaster client', () => {
  it('sends the request as SNIP-29 spells it, with its key in the header', async () => {
    const keys: unknown[] = [];
    const { answer, requests } = await execute((asked, response, body) => {
      keys.push(response.req.headers['x-paymaster-api-key']);
      return behave.result({ tracking_id: '0x0', transaction_hash: '0x00AB' })(asked, response, body);
    });
    expect(answer).toEqual({ outcome: 'answered', value: 0xabn });
    expect(requests).toEqual([{ method: 'paymaster_executeTransaction', params: request }]);
    expect(keys).toEqual(['pm-key']);
  });

  it('tells a no with its code and the innermost reason', async () => {
    const data = { execution_error: { contract_address: '0x1', error: { error: 'Spending: exceeds per-call' } } };
    const { answer } = await execute(behave.error(156, 'An error occurred', data));
    expect(answer).toEqual({
      outcome: 'refused',
      code: 156,
      reason: 'An error occurred: Spending: exceeds per-call',
    });
  });

  it.each([
    ['is a closed connection', behave.hangUp],
    ['is HTTP 502', behave.status(502)],
    ['is not JSON', behave.text('<html>')],
    ['is JSON of another kind', behave.text('[1]')],
    ['is the paymaster’s own trouble', behave.error(-32603, 'Internal error')],
    ['has no hash', behave.result({ tracking_id: '0x0' })],
    ['has a hash that is none', behave.result({ transaction_hash: 'soon' })],
    ['is null', behave.result(null)],
  ])('takes it for possible that it was obeyed when the answer %s', async (_name, behaviour) => {
    const { answer, requests } = await execute(behaviour);
    expect(answer).toMatchObject({ outcome: 'failed', unclear: true });
    expect(requests).toHaveLength(1);
  });

  it('waits no longer than it is told, and takes it for possible then too', async () => {
    const { answer } = await execute(behave.hang, { timeoutMs: 50 });
    expect(answer).toMatchObject({ outcome: 'failed', unclear: true, reason: expect.stringContaining('within 50 ms') });
  });

  it('knows that nothing was delivered where no server listens or the connection is refused', async () => {
    const client = createPaymasterClient({ url: await deadUrl(), apiKey: 'pm-key' });
    expect(await client.execute(request)).toMatchObject({ outcome: 'failed', unclear: false });
    expect((await execute(behave.status(401))).answer).toMatchObject({ outcome: 'failed', unclear: false });
  });

  it('keeps its address, its key and the request out of what it says', async () => {
    const { answer } = await execute(behave.status(500));
    expect(JSON.stringify(answer)).not.toMatch(/secret-key|pm-key|5ec2e7/);
  });
});
