import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Catalogue } from '@svc/protocol';

const file = path.resolve(import.meta.dirname, '../../packages/server/catalogue/mexico.json');

/** The services of the shipped catalogue, in its order. */
export const shippedSkus = (JSON.parse(readFileSync(file, 'utf8')) as Catalogue).skus;
