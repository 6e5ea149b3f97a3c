import { Writable } from 'node:stream';
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { holdWrites, isDatabaseUnavailable } from './client.ts';

describe('a database', () => {
  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Query read timeout',
  ])('is unavailable where the driver says: %s', (message) => {
    expect(isDatabaseUnavailable(new Error(message))).toBe(true);
  });

  it('is not unavailable because of another fault', () => {
    expect(isDatabaseUnavailable(new Error('The rate window was not stored.'))).toBe(false);
    expect(isDatabaseUnavailable('Query read timeout')).toBe(false);
  });
});

describe('statements of one turn', () => {
  const write = (stream: Writable, text: string) => new Promise((resolve) => stream.write(text, resolve));

  it('reach the server in one write, and those of the next turn in another', async () => {
    const writes: string[] = [];
    const stream = new Writable({
      decodeStrings: false,
      write: (text, _, done) => done(void writes.push(text)),
      writev: (chunks, done) => done(void writes.push(chunks.map(({ chunk }) => chunk).join(' '))),
    });
    const client = { connection: { stream } } as unknown as pg.ClientBase;
    const send = (text: string) => {
      holdWrites(client, setImmediate);
      return write(stream, text);
    };
    await Promise.all([send('one'), Promise.resolve().then(() => send('two'))]);
    await send('three');
    expect(writes).toEqual(['one two', 'three']);
  });
});
