// Builds the pages that the service serves. It does so by itself when it starts; an image of it wants them built before.
//
//   npm run build:web
import { buildPages } from './build.ts';
import { fingerprint } from './fingerprint.ts';

await buildPages(await fingerprint());
