/** What needs no schema: threads that load nothing else start in half the time. */
export * from '../errors.ts';
export * from './addresses.ts';
export * from './amounts.ts';
export * from './colors.ts';
export * from './gift-file.ts';
export * from './hex.ts';
export * from './moment.ts';
export * from './parsed.ts';
export * from './proof-of-work.ts';
