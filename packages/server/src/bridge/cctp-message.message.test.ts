import { expect, it } from 'vitest';
import { SEPOLIA_MESSAGE } from '../../testing/bridge-vectors.ts';
import { decodeMessage, readHex } from './cctp-message.ts';

const BYTES = readHex(SEPOLIA_MESSAGE, 1_000) ?? new Uint8Array();

it('a message that was really attested is read field by field', () => {
  expect(decodeMessage(BYTES)).toEqual({
    version: 1n,
    sourceDomain: 25n,
    destinationDomain: 7n,
    nonce: 0x010a10ae78572dbfa6c0870f0143f0e7e1dc0d374877ac8937fd6abcfdf99426n,
    sender: 0x04bdde1e09a4b09a2f95d893d94a967b7717eb85a3f6deca8c080ee01fbc3370n,
    recipient: 0x8fe6b999dc680ccfdd5bf7eb0974218be2542daan,
    destinationCaller: 0n,
    minFinalityThreshold: 1_000n,
    finalityThresholdExecuted: 1_000n,
    bodyVersion: 1n,
    burnToken: 0x0512feac6339ff7889822cb5aa2a86c848e9d392bb0e3e237c008674feed8343n,
    mintRecipient: 0xac379d268ac099ab699b39c73ce623eca56b7921n,
    amount: 100_000n,
    messageSender: 0x03134168ba108079d32b25eaf37f49165c5e831df4c3b099daf09a8ee41d86ffn,
    maxFee: 280n,
    feeExecuted: 140n,
    expirationBlock: 40_345_173n,
    hookData: new Uint8Array(),
  });
});

it('bytes that are too few for a burn are no message', () => {
  expect(decodeMessage(BYTES.subarray(0, -1))).toBeUndefined();
  expect(decodeMessage(new Uint8Array())).toBeUndefined();
});

it.each(['0x0', '0xzz', '00', '', `0x${'00'.repeat(11)}`])(
  'text that is not some whole bytes is refused: %s',
  (text) => {
    expect(readHex(text, 10)).toBeUndefined();
  },
);
