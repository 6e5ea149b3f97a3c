import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { newDataDir, processEnv } from '../support/server.ts';
import { startSvc } from './support/run-svc.ts';

const MAIN = path.resolve(import.meta.dirname, '../../packages/cli/src/main.ts');
const dataDir = await newDataDir();
let dev: ChildProcess | undefined;

/** As a terminal does, to everything that the command started. */
function signal(name: NodeJS.Signals): void {
  if (dev?.pid !== undefined && dev.exitCode === null) process.kill(-dev.pid, name);
}

afterAll(() => {
  signal('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

it('svc dev runs the service in the data folder, a purchase can be cancelled there, and Ctrl-C ends it in order', async () => {
  dev = spawn(process.execPath, [MAIN, 'dev', '--port', '0', '--data-dir', dataDir], {
    env: processEnv(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const child = dev;
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      child.emit('text');
    });
  }
  const ended = once(child, 'close');
  while (!/svc is ready[\s\S]*credentials\.json/.test(output)) {
    const isOver = await Promise.race([once(child, 'text').then(() => false), ended.then(() => true)]);
    if (isOver) throw new Error(`It ended before it was ready:\n${output}`);
  }
  const [address = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(output.slice(output.indexOf('svc is ready'))) ?? [];
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  expect(existsSync(path.join(dataDir, 'credentials.json'))).toBe(true);
  // On a chain of its own: it stops making blocks for a moment.
  const words = ['trigger', 'sku-purchase.cancelled', '--json', '--data-dir', dataDir];
  const { stdout, stderr } = await startSvc(words, { env: processEnv() });
  expect(JSON.parse(stdout || stderr)).toMatchObject({ type: 'sku-purchase.cancelled', data: { status: 'CANCELLED' } });
  signal('SIGINT');
  const [code] = await ended;
  expect({ code, output }).toMatchObject({ code: 0, output: expect.not.stringContaining('did not run to its end') });
  await expect(fetch(`${address}/healthz`)).rejects.toThrow();
});
