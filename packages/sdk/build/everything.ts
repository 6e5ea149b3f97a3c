// The whole library behind one object, for apps that do not count bytes.
export { createSvc } from '../src/index.ts';
