// Generates a Python client from the OpenAPI document and runs smoke.py with it against a service of its own.
//
//   npm run clients:python
//
// Skipped where there is no python3 with venv. The generator is installed once, into node_modules/.cache.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServer } from '../../tests/support/server.ts';

const here = import.meta.dirname;
const root = path.resolve(here, '../..');
const requirements = path.join(here, 'requirements.txt');
const OLDEST = '3.11';

function pythonVersion(): string | undefined {
  const script = 'import ensurepip, sys, venv; print("%d.%d" % sys.version_info[:2])';
  const { status, stdout } = spawnSync('python3', ['-c', script], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

const isRecent = (version: string) => Number(version.split('.')[1]) >= Number(OLDEST.split('.')[1]);

/** The folder of its programs. A stamp marks a finished installation. */
function installGenerator(version: string): string {
  const hash = createHash('sha256').update(readFileSync(requirements)).update(version).digest('hex').slice(0, 12);
  const venv = path.join(root, 'node_modules/.cache', `python-client-${hash}`);
  const bin = path.join(venv, 'bin');
  if (existsSync(path.join(venv, '.installed'))) return bin;
  console.log('Installing openapi-python-client (once)…');
  rmSync(venv, { recursive: true, force: true });
  execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', requirements];
  execFileSync(path.join(bin, 'python'), pip, { stdio: 'inherit' });
  writeFileSync(path.join(venv, '.installed'), '');
  return bin;
}

async function main(): Promise<void> {
  const version = pythonVersion();
  if (version === undefined || !isRecent(version)) {
    console.log(
      `clients:python skipped: there is no python3 from ${OLDEST} on with venv (${version ?? 'none found'}).`,
    );
    return;
  }
  const bin = installGenerator(version);
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-python-client-'));
  const server = await startServer();
  try {
    const { baseUrl, publicKey, secretKey } = server.credentials;
    const document = path.join(folder, 'openapi.json');
    writeFileSync(document, await (await fetch(`${baseUrl}/openapi.json`)).text());
    const client = path.join(folder, 'client');
    // A warning is a part of the interface that the client would lack.
    const options = ['--path', document, '--output-path', client, '--config', path.join(here, 'config.yml')];
    execFileSync(path.join(bin, 'openapi-python-client'), ['generate', ...options, '--fail-on-warning'], {
      stdio: 'inherit',
    });
    execFileSync(path.join(bin, 'python'), [path.join(here, 'smoke.py')], {
      stdio: 'inherit',
      env: { ...process.env, PYTHONPATH: client, BASE_URL: baseUrl, PUBLIC_KEY: publicKey, SECRET_KEY: secretKey },
    });
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
