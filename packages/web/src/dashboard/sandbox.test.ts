import { describe, expect, it } from 'vitest';
import { choicesOf, faultBody, faultServices, initialParameters } from './sandbox.ts';

describe('an ordered fault', () => {
  it('sends numbers as numbers and leaves empty fields out', () => {
    const values = { reason: 'out of luck', method: '', count: '2', seconds: ' ' };
    expect(faultBody('revert', values)).toEqual({ kind: 'revert', reason: 'out of luck', count: 2 });
    expect(faultBody('error', { code: '-32603', message: 'no' })).toEqual({
      kind: 'error',
      code: -32603,
      message: 'no',
    });
  });

  it('has a first value for every parameter that its kind needs', () => {
    for (const [service, { kinds }] of Object.entries(faultServices)) {
      for (const parameter of Object.values(kinds).flat()) {
        expect(initialParameters).toHaveProperty(parameter);
        if (parameter === 'field') expect(choicesOf[service as 'bridge'].field).toContain(initialParameters.field);
      }
    }
  });
});
