import { describe, expect, it, vi } from 'vitest';
import { NodeGoneError, NodeThread } from './node-thread.ts';

const entry = new URL('../../testing/crashing-thread.ts', import.meta.url);
const start = (complaints: string[] = []) =>
  new NodeThread({ url: 'postgres://nowhere' }, (message) => complaints.push(message), entry);

describe("the node's thread", () => {
  it('starts again when it dies, and pending requests fail', async () => {
    const complaints: string[] = [];
    const thread = start(complaints);
    const first = await thread.rpc('who', '0.10.0');
    const waiting = thread.rpc('wait', '0.10.0');
    const dying = thread.rpc('die', '0.10.0');
    await expect(waiting).rejects.toBeInstanceOf(NodeGoneError);
    await expect(dying).rejects.toBeInstanceOf(NodeGoneError);
    await expect(thread.rpc('who', '0.10.0')).rejects.toBeInstanceOf(NodeGoneError);
    const second = await vi.waitFor(() => thread.rpc('who', '0.10.0'), { timeout: 60_000 });
    expect(second.body).not.toBe(first.body);
    expect(complaints).toEqual([expect.stringContaining('killed by the test')]);
    await thread.stop();
  });

  it('stays away once it was stopped', async () => {
    const complaints: string[] = [];
    const thread = start(complaints);
    await thread.rpc('who', '0.10.0');
    await thread.stop();
    await expect(thread.rpc('who', '0.10.0')).rejects.toBeInstanceOf(NodeGoneError);
    expect(complaints).toEqual([]);
  });

  it('refuses more than it can hold', async () => {
    const thread = start();
    await thread.rpc('who', '0.10.0');
    const waiting = Array.from({ length: 2_000 }, () => thread.rpc('wait', '0.10.0').catch((error: unknown) => error));
    await expect(thread.rpc('who', '0.10.0')).rejects.toThrow('too much to do');
    await thread.stop();
    for (const outcome of await Promise.all(waiting)) expect(outcome).toBeInstanceOf(NodeGoneError);
  });
});
