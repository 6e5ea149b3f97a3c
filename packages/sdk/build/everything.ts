// The whole library.
export { createSvc } from '../src/index.ts';
