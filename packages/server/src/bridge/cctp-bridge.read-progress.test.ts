import { describe, expect, it } from 'vitest';
import { ATTESTED_PIECES, BURN, messageHex, SEPOLIA_MESSAGE, short, USDC, word } from '../../testing/bridge-vectors.ts';
import type { BridgeMessage } from './attestation-client.ts';
import { readProgress } from './cctp-bridge.ts';
import { cctpPlaces } from './cctp-message.ts';

const shown = (changes: Partial<BridgeMessage> = {}): BridgeMessage => ({
  complete: true,
  message: messageHex(),
  attestation: '0xabcd',
  forwardState: 'PENDING',
  forwardTxHash: undefined,
  ...changes,
});
const read = (...messages: BridgeMessage[]) => readProgress(cctpPlaces.sandbox, USDC, BURN, messages);

describe('an attested message', () => {
  it('that says what was ordered is taken, with what it cost', () => {
    expect(read(shown())).toEqual({
      state: 'ATTESTED',
      nonce: `0x${word(0xfeedn)}`,
      message: messageHex(),
      attestation: '0xabcd',
      feeExecuted: 130n,
      forwardState: 'PENDING',
      receiveHash: undefined,
    });
  });

  const filledIn = ['nonce', 'finalityThresholdExecuted', 'feeExecuted', 'expirationBlock'];
  const ordered = Object.keys(ATTESTED_PIECES).filter((field) => !filledIn.includes(field));
  it.each(ordered)('with one other bit in %s is not trusted', (field) => {
    const piece = ATTESTED_PIECES[field] ?? '';
    const changed = (BigInt(`0x${piece}`) ^ 1n).toString(16).padStart(piece.length, '0');
    const reason = `The attested message does not say what was burned: ${field} differs.`;
    expect(read(shown({ message: messageHex({ [field]: changed }) }))).toEqual({ state: 'WRONG', reason });
  });

  it.each([
    ['a fee above the agreed one', { feeExecuted: word(501n) }],
    ['no nonce', { nonce: word(0n) }],
    ['less finality than was asked for', { finalityThresholdExecuted: short(500) }],
    ['a longer hook', { hookData: `${ATTESTED_PIECES.hookData}00` }],
    ['no hook', { hookData: '' }],
  ])('with %s is not trusted', (_, changes) => {
    expect(read(shown({ message: messageHex(changes) }))).toMatchObject({ state: 'WRONG' });
  });

  it.each([
    ['that cannot be read', { message: '0x00' }],
    ['of another burn', { message: SEPOLIA_MESSAGE }],
    ['without bytes', { message: '0x' }],
    ['that is too long', { message: messageHex({ hookData: '00'.repeat(5_000) }) }],
    ['without a readable attestation', { attestation: '0x' }],
  ])('%s is not trusted', (_, changes) => {
    expect(read(shown(changes))).toMatchObject({ state: 'WRONG' });
  });

  it('is trusted with its whole fee, and with more finality than was asked for', () => {
    const changes = { feeExecuted: word(500n), finalityThresholdExecuted: short(2_000) };
    expect(read(shown({ message: messageHex(changes) }))).toMatchObject({ state: 'ATTESTED', feeExecuted: 500n });
  });
});

it('without a message the burn is unseen, with an incomplete one it is pending', () => {
  expect(read()).toEqual({ state: 'UNSEEN' });
  expect(read(shown({ complete: false, message: '' }))).toEqual({ state: 'PENDING' });
});

it('several messages for one burn are not trusted', () => {
  expect(read(shown(), shown())).toMatchObject({ state: 'WRONG' });
});
