import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');
const contracts = path.join(root, 'contracts');

export const places = {
  /** The contract's root module. */
  source: path.join(contracts, 'src/lib.cairo'),
  /** The root of the tests: what they share, and a module for each file of tests. */
  tests: path.join(contracts, 'tests'),
  compiledClass: path.join(contracts, 'compiled/svc_account.json'),
  classHash: path.join(contracts, 'compiled/class-hash.txt'),
  /** The digest of what the Cairo suite last passed with. */
  record: path.join(contracts, 'compiled/sources.sha256'),
} as const;

/** As a reader of a message would type it. */
export function shown(file: string): string {
  return path.isAbsolute(file) ? path.relative(root, file) : file;
}
