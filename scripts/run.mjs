// The launcher: plain JavaScript for Node 18 and newer, so that `npm start` and `npm test` work on a fresh clone.
// Installs the lock file's packages if that was not done yet, chooses a runtime that can run TypeScript, and replaces
// itself with it. With nothing to install it costs a file read and a hash.
//
//   node scripts/run.mjs [NAME=default…] [--node-option…] <file.ts | installed command> [arguments]
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { countInstalled, describeProgress, packagesToInstall } from './install-progress.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const modules = path.join(root, 'node_modules');
const OLDEST = [22, 18];
// Independent of NODE_ENV: one stamp stands for one set of packages.
const EVERYTHING = ['--include=dev'];

const { defaults, nodeOptions, target, args } = parse(process.argv.slice(2));
if (!target) fail('usage: node scripts/run.mjs [NAME=default] [--node-option] <file or command> [arguments]');
await install();
const runtime = chooseRuntime();
handOver(runtime, [...nodeOptions, resolveTarget(target), ...args], { ...defaults, ...process.env });

function parse(words) {
  const isDefault = (word) => /^[A-Z_]+=/.test(word);
  const start = words.findIndex((word) => !isDefault(word) && !word.startsWith('--'));
  const before = start < 0 ? words : words.slice(0, start);
  return {
    defaults: Object.fromEntries(before.filter(isDefault).map((word) => word.split(/=(.*)/s, 2))),
    nodeOptions: before.filter((word) => !isDefault(word)),
    target: start < 0 ? undefined : words[start],
    args: start < 0 ? [] : words.slice(start + 1),
  };
}

async function install() {
  const stamp = path.join(modules, '.svc-installed');
  const current = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .update(`${process.platform} ${process.arch}`)
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === current) return;
  console.error('Installing dependencies (only when the lock file changed). A fresh clone takes one to two minutes.');
  const startedAt = Date.now();
  if (isRecent(process.versions.node)) {
    await npmCi(process.execPath, root);
  } else {
    // npm omits optional packages that do not fit the Node it runs on. So the pinned runtime is installed first, alone,
    // and then installs everything.
    console.error('First the pinned Node, because this one is too old.');
    const folder = mkdtempSync(path.join(tmpdir(), 'svc-runtime-'));
    try {
      describeRuntime(folder);
      await npmCi(process.execPath, folder);
      const first = pinnedRuntime(folder);
      console.error('Then everything else.');
      await npmCi(first, root);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  writeFileSync(stamp, current);
  console.error(`Installed in ${Math.round((Date.now() - startedAt) / 1000)} s.`);
}

/** A project of the lock file's runtimes and nothing else. */
function describeRuntime(folder) {
  const read = (name) => JSON.parse(readFileSync(path.join(root, name), 'utf8'));
  const { optionalDependencies } = read('package.json');
  const { packages, ...lock } = read('package-lock.json');
  const names = Object.keys(optionalDependencies).map((name) => `node_modules/${name}`);
  const only = { '': { optionalDependencies }, ...Object.fromEntries(names.map((name) => [name, packages[name]])) };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ optionalDependencies }));
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages: only }));
  copyFileSync(path.join(root, '.npmrc'), path.join(folder, '.npmrc'));
}

async function npmCi(node, folder) {
  // npm passes its own path to its scripts; without npm, look in the usual places.
  const { npm_execpath: own = '' } = process.env;
  const npm = own.endsWith('npm-cli.js') ? own : npmBeside(process.execPath);
  const argv = [npm, 'ci', '--no-audit', '--no-fund', '--loglevel=error', ...EVERYTHING];
  const child = spawn(node, argv, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], env: withoutNpmSettings() });
  const stopProgress = showProgress();
  const [status] = await once(child, 'exit').finally(stopProgress);
  if (status !== 0) fail('npm ci did not succeed; its message is above.');
}

/** Rewrites one line on a terminal; elsewhere a line every ten seconds. */
function showProgress() {
  const packages = packagesToInstall(JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')), process);
  const startedAt = Date.now();
  const show = () => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    const text = describeProgress({ installed: countInstalled(root, packages), total: packages.length, seconds });
    process.stderr.write(process.stderr.isTTY ? `\r${text}\x1b[K` : `${text}\n`);
  };
  const timer = setInterval(show, process.stderr.isTTY ? 500 : 10_000);
  return () => {
    clearInterval(timer);
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  };
}

function npmBeside(node) {
  const folder = path.dirname(realpathSync(node));
  const places = ['../lib/node_modules/npm/bin/npm-cli.js', 'node_modules/npm/bin/npm-cli.js'];
  const found = places.map((place) => path.resolve(folder, place)).find((place) => existsSync(place));
  return found ?? fail('npm was not found. Start with `npm start` or `npm test`.');
}

// `npm test` passes its settings on as npm_config_*; an install must not inherit them (a dry run, another prefix).
function withoutNpmSettings() {
  const keep = /^npm_config_(registry|cafile|cache|userconfig|globalconfig|https?_proxy|proxy|noproxy|_?auth|\/\/)/i;
  return Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^npm_config_/i.test(key) || keep.test(key)),
  );
}

function isRecent(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

function chooseRuntime() {
  return isRecent(process.versions.node) ? process.execPath : pinnedRuntime();
}

function pinnedRuntime(project = root) {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  for (const candidate of [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`]) {
    const folder = path.join(project, 'node_modules', candidate);
    if (!existsSync(path.join(folder, 'package.json'))) continue;
    const { bin } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const file = path.join(folder, bin.node);
    const answer = spawnSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' });
    if (answer.status === 0 && isRecent(answer.stdout.trim())) return file;
  }
  return fail(
    `svc needs Node ${OLDEST.join('.')} or newer. This is ${process.version}, and npm has no pinned runtime for ` +
      `${process.platform} on ${process.arch}. Install a newer Node and try again.`,
  );
}

function resolveTarget(name) {
  if (/\.[cm]?[jt]s$/.test(name)) return path.resolve(root, name);
  const command = path.join(modules, '.bin', name);
  if (existsSync(command)) return realpathSync(command);
  fail(`No command named ${name} is installed.`);
}

function handOver(exe, argv, variables) {
  const env = { ...variables, PATH: path.dirname(exe) + path.delimiter + (process.env.PATH ?? '') };
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(exe, [exe, ...argv], env);
  }
  const child = spawn(exe, argv, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGKILL' ? 137 : 143);
  });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
