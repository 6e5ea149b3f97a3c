import { describe, expect, it } from 'vitest';
import { readOrderAnswer } from './provider.ts';

const read = (value: unknown) => readOrderAnswer(Buffer.from(JSON.stringify(value)));

describe('the words of a fulfilment service', () => {
  it.each([
    [
      { status: 'completed', fileNumber: '000123' },
      { state: 'completed', fileNumber: '000123' },
    ],
    [
      { status: 'failed', reason: 'No credit' },
      { state: 'failed', reason: 'No credit' },
    ],
    [{ status: 'accepted' }, { state: 'accepted' }],
    [{ status: 'unknown' }, { state: 'unknown' }],
    [{ status: 'accepted', eta: 5 }, { state: 'accepted' }],
    [
      { status: 'completed', fileNumber: ' Ñ-1  2 😀' },
      { state: 'completed', fileNumber: ' Ñ-1  2 😀' },
    ],
    [
      { status: 'completed', fileNumber: 'x'.repeat(255), reason: 'none' },
      { state: 'completed', fileNumber: 'x'.repeat(255) },
    ],
  ])('%j are understood', (said, meant) => {
    expect(read(said)).toEqual(meant);
  });

  it.each([
    {},
    null,
    [],
    'completed',
    { status: 'COMPLETED', fileNumber: '1' },
    { status: 'done' },
    { status: 'completed' },
    { status: 'completed', fileNumber: '' },
    { status: 'completed', fileNumber: 123 },
    { status: 'completed', fileNumber: '1\u0000' },
    { status: 'completed', fileNumber: '  ' },
    { status: 'completed', fileNumber: '1\n2' },
    { status: 'completed', fileNumber: '\ud800' },
    { status: 'completed', fileNumber: 'x'.repeat(256) },
    { status: 'failed' },
    { status: 'failed', reason: '' },
    { status: 'failed', reason: ' \u0000 ' },
    { status: 'failed', reason: { text: 'no' } },
  ])('%j are not', (said) => {
    expect(read(said)).toBeUndefined();
  });

  it.each(['', '{"status":"accepted"', '\ufeff{}', 'OK'])('are not the bytes %j', (text) => {
    expect(readOrderAnswer(Buffer.from(text))).toBeUndefined();
  });

  it('are not bytes that are no UTF-8', () => {
    expect(readOrderAnswer(Buffer.from('{"status":"completed","fileNumber":"\xff"}', 'latin1'))).toBeUndefined();
  });

  it('have a reason that fits a line and a record, however long and wild it came', () => {
    const reason = `No\r\n\u0000\u202egood ${'😀'.repeat(600)}\ud800`;
    const answer = read({ status: 'failed', reason });
    expect(answer).toEqual({ state: 'failed', reason: expect.stringMatching(/^No good 😀+…$/u) });
    expect([...(answer as { reason: string }).reason]).toHaveLength(500);
  });
});
