import { allEndpoints, type Endpoint, endpoints } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { faultOfBody, readBody } from './endpoints.ts';

const judge = (endpoint: Endpoint, body: unknown) => faultOfBody(endpoint, readBody(endpoint, body));
const changing: readonly Endpoint[] = allEndpoints.filter(({ method }) => method === 'PATCH');

describe('a body that is not there', () => {
  it('counts as empty where no field is required', () => {
    expect(readBody(endpoints.rotateWebhookSecret, undefined)).toEqual({});
    expect(judge(endpoints.rotateWebhookSecret, undefined)).toBeUndefined();
  });

  it('is refused where a field is required', () => {
    expect(judge(endpoints.createWebhook, undefined)).toBe('body must be object');
  });

  it('is not the same as null, a list or a text', () => {
    for (const body of [null, [], 'text', 0, false]) {
      expect(judge(endpoints.rotateWebhookSecret, body)).toBe('body must be object');
    }
  });

  it('is undefined where no body is read', () => {
    expect(readBody(endpoints.testWebhook, undefined)).toBeUndefined();
    expect(readBody(endpoints.testWebhook, { some: 'body' })).toBeUndefined();
  });
});

describe('a change', () => {
  it.each(changing.map((endpoint) => [endpoint.operationId, endpoint] as const))(
    'that names nothing that can be changed is refused: %s',
    (_, endpoint) => {
      for (const body of [undefined, {}, { isEnable: false }, { toString: 1 }])
        expect(judge(endpoint, body)).toBeDefined();
    },
  );

  it('is refused with the names of its fields', () => {
    const wanted = 'body must have at least one of url, description, eventTypes, isEnabled';
    expect(judge(endpoints.updateWebhook, { isEnable: false })).toBe(wanted);
  });

  it('may have unknown fields beside a known one', () => {
    expect(judge(endpoints.updateWebhook, { isEnabled: false, colour: 'blue' })).toBeUndefined();
    expect(judge(endpoints.updateWebhook, { description: null })).toBeUndefined();
  });

  it('is validated by the fields that it has', () => {
    expect(judge(endpoints.updateWebhook, { isEnabled: 'no' })).toBe('body.isEnabled must be boolean');
  });
});
