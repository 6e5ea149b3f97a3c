import path from 'node:path';

export const web = path.resolve(import.meta.dirname, '..');
export const root = path.resolve(web, '../..');
/** Built pages, one folder per fingerprint of the sources. */
export const dist = path.join(web, 'dist');
