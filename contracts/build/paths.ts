import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');
const contracts = path.join(root, 'contracts');

export const paths = {
  source: path.join(contracts, 'src/lib.cairo'),
  tests: path.join(contracts, 'tests'),
  compiledClass: path.join(contracts, 'compiled/svc_account.json'),
  classHash: path.join(contracts, 'compiled/class-hash.txt'),
  /** Digest of the inputs with which the Cairo suite last passed. */
  record: path.join(contracts, 'compiled/sources.sha256'),
} as const;

/** Relative to the repository. */
export function relativePath(file: string): string {
  return path.isAbsolute(file) ? path.relative(root, file) : file;
}
