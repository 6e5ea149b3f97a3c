// Builds the pages that the service serves, unless it has them. It does so by itself when it starts; an image of it wants them built before.
//
//   npm run build:web
import { existsSync } from 'node:fs';
import path from 'node:path';
import { buildPages } from './build.ts';
import { fingerprint } from './fingerprint.ts';
import { dist } from './paths.ts';

const name = await fingerprint();
// A build appears complete, and equal names mean equal builds.
if (!existsSync(path.join(dist, name))) await buildPages(name);
