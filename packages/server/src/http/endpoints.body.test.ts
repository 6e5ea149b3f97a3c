import { allEndpoints, type Endpoint, endpoints } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { faultOfBody, readBody } from './endpoints.ts';

const judge = (endpoint: Endpoint, body: unknown) => faultOfBody(endpoint, readBody(endpoint, body));
const changing: readonly Endpoint[] = allEndpoints.filter(({ method }) => method === 'PATCH');

describe('a body that is not there', () => {
  it('counts as an empty one where nothing is required', () => {
    expect(readBody(endpoints.rotateWebhookSecret, undefined)).toEqual({});
    expect(judge(endpoints.rotateWebhookSecret, undefined)).toBeUndefined();
  });

  it('is missed where something is', () => {
    expect(judge(endpoints.createWebhook, undefined)).toBe('body must be object');
  });

  it('is not what null, a list or a text is', () => {
    for (const body of [null, [], 'text', 0, false]) {
      expect(judge(endpoints.rotateWebhookSecret, body)).toBe('body must be object');
    }
  });

  it('stays away where none is read', () => {
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

  it('is told which names there are', () => {
    const wanted = 'body must have at least one of url, description, eventTypes, isEnabled';
    expect(judge(endpoints.updateWebhook, { isEnable: false })).toBe(wanted);
  });

  it('may have other names beside a known one', () => {
    expect(judge(endpoints.updateWebhook, { isEnabled: false, colour: 'blue' })).toBeUndefined();
    expect(judge(endpoints.updateWebhook, { description: null })).toBeUndefined();
  });

  it('is judged by the values of the names that it has', () => {
    expect(judge(endpoints.updateWebhook, { isEnabled: 'no' })).toBe('body.isEnabled must be boolean');
  });
});
