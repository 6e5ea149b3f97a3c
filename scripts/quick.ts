// Lint, types, and the tests closest to what changed, in less than a minute.
//
//   npm run quick              what is not committed
//   npm run quick -- HEAD~3    what changed since that commit, committed or not
import { execFileSync, spawn } from 'node:child_process';
import path from 'node:path';
import { selectTests, type TestFile } from './select-tests.ts';

const root = path.resolve(import.meta.dirname, '..');
const LAUNCHER = path.join(root, 'scripts/run.mjs');
/** Leaves room for lint, types and the search for related tests. */
const TEST_SECONDS = 25;

interface Result {
  readonly code: number;
  readonly output: string;
}

async function main([since = 'HEAD']: readonly string[]): Promise<void> {
  const changed = changedFiles(since);
  if (changed.length === 0) return console.log(`Nothing changed since ${since}.`);
  const [lint, types, related] = await Promise.all([
    step('lint', ['biome', 'check', '--error-on-warnings', '.']),
    checkTypes(),
    relatedTests(since),
  ]);
  if (!lint || !types) {
    process.exitCode = 1;
    return;
  }
  const { run, left } = selectTests(related, changed, TEST_SECONDS);
  if (left.length > 0) console.log(`${left.length} more related test files: npm run check, npm test`);
  if (run.length === 0) return console.log('No test is related to what changed.');
  if ((await launch(['vitest', 'run', ...run], 'inherit')).code !== 0) process.exitCode = 1;
}

function changedFiles(since: string): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0');
  return [
    ...git('diff', '--name-only', '-z', since),
    ...git('ls-files', '--others', '--exclude-standard', '-z'),
  ].filter((file) => file !== '');
}

async function checkTypes(): Promise<boolean> {
  const projects = ['.', 'examples/wallet-app', 'packages/web'];
  const results = [];
  // tsc uses every core by itself.
  for (const project of projects) results.push(await step(`types of ${project}`, ['tsc', '--noEmit', '-p', project]));
  return results.every(Boolean);
}

async function relatedTests(since: string): Promise<TestFile[]> {
  const { code, output } = await launch(['vitest', 'list', '--filesOnly', '--json', '--changed', since]);
  if (code !== 0) throw new Error(`vitest list failed.\n${output}`);
  const listed = JSON.parse(output.slice(output.indexOf('['))) as { file: string; projectName: string }[];
  return listed.map(({ file, projectName }) => ({
    file: path.relative(root, file).replaceAll(path.sep, '/'),
    tier: projectName,
  }));
}

async function step(name: string, command: readonly string[]): Promise<boolean> {
  const startedAt = performance.now();
  const { code, output } = await launch(command);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok' : 'FAILED'}  ${name} (${seconds} s)`);
  if (code !== 0) process.stdout.write(output);
  return code === 0;
}

function launch(command: readonly string[], stdio: 'pipe' | 'inherit' = 'pipe'): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [LAUNCHER, ...command], { cwd: root, stdio: ['ignore', stdio, stdio] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

await main(process.argv.slice(2));
