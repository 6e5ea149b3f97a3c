import type { Endpoint } from '../endpoint.ts';
import * as gifts from './gifts.ts';
import * as organization from './organization.ts';
import * as skus from './skus.ts';
import * as transactions from './transactions.ts';
import * as wallets from './wallets.ts';

/** The whole interface, by operation. */
export const endpoints = { ...wallets, ...transactions, ...skus, ...gifts, ...organization };

export const allEndpoints: readonly Endpoint[] = Object.values(endpoints);
