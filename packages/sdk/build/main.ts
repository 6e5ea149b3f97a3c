// Writes the package that apps install.
//
//   npm run build:sdk
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { buildPackage } from './build-package.ts';
import { packages, root } from './paths.ts';

const outDir = path.join(packages, 'sdk/dist');
await rm(outDir, { recursive: true, force: true });
await buildPackage(outDir);
console.log(`Written to ${path.relative(root, outDir)}. To publish it: npm publish ./${path.relative(root, outDir)}`);
