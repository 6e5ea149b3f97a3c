import { describe, expect, it } from 'vitest';
import { MAX_BATCH_CHARS, serve } from './json-rpc.ts';

const request = (id: number) => ({ jsonrpc: '2.0', id, method: 'read', params: [] });

describe('a batch', () => {
  it('whose answers grow too large executes no more of it', async () => {
    let executed = 0;
    const answers = await serve([request(1), request(2), request(3)], async () => {
      executed += 1;
      return { result: 'x'.repeat(MAX_BATCH_CHARS / 2) };
    });
    expect(executed).toBe(2);
    expect(answers).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3, error: { code: -32_005 } }]);
  });

  it('fails as a whole when something of ours fails', async () => {
    const broken = async () => {
      throw new Error('no database');
    };
    await expect(serve([request(1)], broken)).rejects.toThrow('no database');
  });
});
