import type { Endpoint } from '../endpoint.ts';
import * as gifts from './gifts.ts';
import * as members from './members.ts';
import * as operator from './operator.ts';
import * as organization from './organization.ts';
import * as purchases from './purchases.ts';
import * as recipients from './recipients.ts';
import * as settings from './settings.ts';
import * as skus from './skus.ts';
import * as solanaTransfers from './solana-transfers.ts';
import * as transactions from './transactions.ts';
import * as treasuries from './treasuries.ts';
import * as wallets from './wallets.ts';
import * as webhooks from './webhooks.ts';

/** By operation id. */
export const endpoints = {
  ...wallets,
  ...transactions,
  ...solanaTransfers,
  ...skus,
  ...purchases,
  ...gifts,
  ...recipients,
  ...organization,
  ...settings,
  ...webhooks,
  ...treasuries,
  ...members,
  ...operator,
};

export const allEndpoints: readonly Endpoint[] = Object.values(endpoints);
