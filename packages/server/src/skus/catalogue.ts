import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Catalogue } from '@svc/protocol';
import type { Db } from '@svc/store';
import { findFault } from '../http/validation.ts';
import * as store from './skus.ts';
import { matchesPattern, problemOfSku } from './skus.ts';

/** 10,000 services are about 8 MB. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';
}

export async function loadCatalogue(db: Db, file: string): Promise<{ count: number; changed: boolean }> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CatalogueError(`The SKU catalogue ${file} cannot be read.`, { cause: error });
  });
  const catalogue = parseCatalogue(text, file);
  const checksum = createHash('sha256').update(text).digest('hex');
  const changed = await db.tx((tx) => store.replaceCatalogue(tx, catalogue.skus, checksum));
  return { count: catalogue.skus.length, changed };
}

export function parseCatalogue(text: string, file: string): Catalogue {
  const refuse = (problem: string) => new CatalogueError(`The SKU catalogue ${file} is not usable: ${problem}.`);
  if (text.length > MAX_FILE_BYTES) throw refuse(`it is larger than ${MAX_FILE_BYTES} bytes`);
  let catalogue: Catalogue;
  try {
    catalogue = JSON.parse(text) as Catalogue;
  } catch {
    throw refuse('it is not valid JSON');
  }
  const fault = findFault('body', Catalogue, catalogue);
  if (fault) throw refuse(fault.replace(/^body\.?/, ''));
  const seen = new Set<string>();
  for (const sku of catalogue.skus) {
    if (seen.has(sku.id)) throw refuse(`the id ${sku.id} is used twice`);
    seen.add(sku.id);
    const problem = findProblem(sku);
    if (problem) throw refuse(`${sku.id}: ${problem}`);
  }
  return catalogue;
}

function findProblem(sku: Catalogue['skus'][number]): string | undefined {
  const problem = problemOfSku(sku);
  if (problem || !sku.example) return problem;
  if (!matchesPattern(sku.referenceRegexValidation, sku.example.reference)) return 'example.reference does not match';
  if (!matchesPattern(sku.amountRegexValidation, sku.example.amount)) return 'example.amount does not match';
  return undefined;
}
