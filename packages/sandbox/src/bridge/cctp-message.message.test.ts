import { describe, expect, it } from 'vitest';
import { ATTESTED } from '../../testing/bridge-fixtures.ts';
import { showDecoded } from './attestation.ts';
import { changeMessage, decodeMessage, tamper } from './cctp-message.ts';

describe('a bridge message', () => {
  it('that was really attested is read field by field', () => {
    expect(decodeMessage(ATTESTED)).toMatchObject({
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
    });
    expect(decodeMessage(ATTESTED)?.hookData).toHaveLength(0);
  });

  it('is shown with decimal numbers and addresses of 32 bytes', () => {
    expect(showDecoded(ATTESTED)).toMatchObject({
      sourceDomain: '25',
      recipient: '0x0000000000000000000000008fe6b999dc680ccfdd5bf7eb0974218be2542daa',
      decodedMessageBody: { amount: '100000', feeExecuted: '140', expirationBlock: '40345173', hookData: '0x' },
    });
  });

  it('comes back whole when what the service fills in is taken out and put in again', () => {
    const { nonce, finalityThresholdExecuted, feeExecuted, expirationBlock } = decodeMessage(ATTESTED) ?? {};
    if (nonce === undefined || finalityThresholdExecuted === undefined) throw new Error('not read');
    if (feeExecuted === undefined || expirationBlock === undefined) throw new Error('not read');
    const sent = changeMessage(ATTESTED, {
      nonce: 0n,
      finalityThresholdExecuted: 0n,
      feeExecuted: 0n,
      expirationBlock: 0n,
    });
    expect(Buffer.compare(sent, ATTESTED)).not.toBe(0);
    const filled = changeMessage(sent, { nonce, finalityThresholdExecuted, feeExecuted, expirationBlock });
    expect(Buffer.compare(filled, ATTESTED)).toBe(0);
  });

  it('is no burn when it is too short, and takes no value that does not fit', () => {
    expect(decodeMessage(ATTESTED.subarray(0, -1))).toBeUndefined();
    expect(() => changeMessage(ATTESTED, { sourceDomain: 2n ** 32n })).toThrow(RangeError);
  });

  it.each([
    ['amount', 'amount'],
    ['recipient', 'mintRecipient'],
    ['domain', 'destinationDomain'],
    ['token', 'burnToken'],
  ] as const)('with a tampered %s differs in that field alone', (field, name) => {
    const tampered = decodeMessage(tamper(ATTESTED, field));
    const { body: _body, hookData: _hook, ...truth } = decodeMessage(ATTESTED) ?? {};
    expect(tampered?.[name]).not.toBe(decodeMessage(ATTESTED)?.[name]);
    expect(tampered).toMatchObject({ ...truth, [name]: tampered?.[name] });
  });
});
