import { endpoint } from '../endpoint.ts';
import { Success } from '../schemas/common.ts';
import * as schema from '../schemas/member.ts';

const tag = 'Members';

export const getSession = endpoint({
  operationId: 'getSession',
  method: 'GET',
  path: '/session',
  tag,
  summary: 'Read who is signed in',
  access: 'session',
  answers: { 200: schema.CurrentSession },
});

export const deleteSession = endpoint({
  operationId: 'deleteSession',
  method: 'DELETE',
  path: '/session',
  tag,
  summary: 'Sign out',
  access: 'session',
  answers: { 200: Success },
});

export const redeemMailLink = endpoint({
  operationId: 'redeemMailLink',
  method: 'POST',
  path: '/session/mail-links/redeem',
  tag,
  summary: 'Sign in with a link, or accept an invitation',
  description: 'The answer sets the cookie of the session. A link works once.',
  access: 'sign-in',
  body: schema.RedeemMailLink,
  answers: { 200: schema.CurrentSession },
  errors: ['invalid_request', 'invalid_link'],
});

export const createDevelopmentLink = endpoint({
  operationId: 'createDevelopmentLink',
  method: 'POST',
  path: '/session/development',
  tag,
  summary: 'Make a link that signs in as the owner of the development organisation',
  description: 'Only in the embedded default, and only for requests of the same machine; otherwise 404.',
  access: 'sign-in',
  answers: { 200: schema.DevelopmentLink },
  shownOnce: ['path'],
  errors: ['not_found'],
});
