// Writes the package that apps install.
//
//   npm run build:react
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { buildPackage } from './build-package.ts';

const outDir = path.resolve(import.meta.dirname, '../dist');
await rm(outDir, { recursive: true, force: true });
await buildPackage(outDir);
console.log('Written to packages/react/dist. To publish it: npm publish ./packages/react/dist');
