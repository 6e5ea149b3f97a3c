import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { manifest } from './manifest.ts';
import { packages, root } from './paths.ts';
import { writeDeclarations } from './write-declarations.ts';
import { writeModules } from './write-modules.ts';

/** Writes everything that `npm publish` needs into a folder. */
export async function buildPackage(outDir: string): Promise<void> {
  await mkdir(outDir, { recursive: true });
  await writeModules(outDir);
  await writeDeclarations(outDir);
  await writeFile(path.join(outDir, 'package.json'), `${JSON.stringify(await manifest(outDir), undefined, 2)}\n`);
  await copyFile(path.join(packages, 'sdk/README.md'), path.join(outDir, 'README.md'));
  await copyFile(path.join(root, 'LICENSE'), path.join(outDir, 'LICENSE'));
}
