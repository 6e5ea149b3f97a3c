import path from 'node:path';

/** This package. */
export const web = path.resolve(import.meta.dirname, '..');
export const root = path.resolve(web, '../..');
/** Where built pages are kept, each in a folder named after the fingerprint of what it was made of. */
export const dist = path.join(web, 'dist');
