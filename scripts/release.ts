// Versions all packages together, moves the changelog's Unreleased section, and builds the tarballs to publish.
//
//   npm run release -- --dry-run     builds the tarballs and shows the rest; changes nothing that git tracks
//   npm run release -- minor         patch, minor, major or a version; commits and tags, does not push or publish
//
// A release needs starknet-sierra-compile: the committed classes must compile for a network.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  type LockFile,
  type Manifest,
  nextVersion,
  releaseChangelog,
  setLockVersion,
  setVersion,
} from './release-plan.ts';
import { buildTarballs, npm } from './tarballs.ts';

const root = path.resolve(import.meta.dirname, '..');
/** Ignored by git. */
const OUTPUT = 'dist/release';

const at = (file: string) => path.join(root, file);
const read = (file: string) => readFileSync(at(file), 'utf8');
const readJson = <T>(file: string) => JSON.parse(read(file)) as T;
const toJson = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

async function main(args: readonly string[]): Promise<void> {
  const dryRun = args.includes('--dry-run');
  const unknown = args.filter((arg) => arg.startsWith('--') && arg !== '--dry-run');
  if (unknown.length > 0) throw new Error(`Unknown option: ${unknown.join(' ')}`);
  const { version: current = '' } = readJson<Manifest>('package.json');
  const version = nextVersion(
    current,
    read('CHANGELOG.md'),
    args.find((arg) => !arg.startsWith('--')),
  );
  const files = changedFiles(version);

  const isClean = git('status', '--porcelain') === '';
  if (!isClean && !dryRun) throw new Error('There are changes that are not committed. Commit or discard them first.');
  if (dryRun) console.log('Dry run: the checks are skipped, no file that git tracks changes.');
  if (!isClean) console.log('A release would stop here: there are changes that are not committed.');
  if (!dryRun) {
    npm('run', 'contracts', '--', '--verify-casm');
    npm('run', 'check');
  }

  console.log(`Release ${version} (now ${current})`);
  const tarballs = await buildTarballs(version, at(OUTPUT));
  for (const { file, entryCount, size, integrity } of tarballs) {
    const facts = [`${entryCount} files`, `${(size / 1000).toFixed(0)} kB`, integrity];
    console.log(`built  ${path.relative(root, file)} (${facts.join(', ')})`);
  }
  for (const [file] of files) console.log(`${dryRun ? 'would change' : 'changed'}  ${file}`);
  if (dryRun) return;

  for (const [file, text] of files) writeFileSync(at(file), text);
  git('add', ...files.map(([file]) => file));
  git('commit', '--quiet', '--message', `Release ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', `Release ${version}`);
  console.log(`Committed and tagged v${version}. Next: git push --follow-tags, then npm publish for each tarball.`);
}

/** New texts of the files that a release changes. */
function changedFiles(version: string): [file: string, text: string][] {
  const manifests = ['package.json', ...readdirSync(at('packages')).map((name) => `packages/${name}/package.json`)];
  const today = new Date().toISOString().slice(0, 10);
  const files: [string, string][] = [
    ['CHANGELOG.md', releaseChangelog(read('CHANGELOG.md'), version, today)],
    ...manifests.map((file): [string, string] => [file, toJson(setVersion(readJson<Manifest>(file), version))]),
    ['package-lock.json', toJson(setLockVersion(readJson<LockFile>('package-lock.json'), version))],
  ];
  return files.filter(([file, text]) => read(file) !== text);
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
