import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { action, group, whole } from '../context.ts';
import { CliError, usage } from '../failure.ts';

export function devCommand(): Command {
  return group('dev', 'run the whole service on this machine, from a clone of its repository')
    .option('-p, --port <port>', 'where to listen; 0 takes a free one', whole(0, 65_535))
    .option('--watch', 'start again when a source file changes')
    .addHelpText('after', '\nWhat npm start does. Settings are environment variables: docs/operations.md.\n')
    .action(
      action<{ port?: number; watch?: boolean; dataDir?: string }>(async ({ out }, { port, watch, dataDir }) => {
        out.stop();
        const root = findClone(process.cwd()) ?? findClone(import.meta.dirname);
        if (root === undefined) {
          throw usage('There is no clone of the svc repository here. Run this in its folder.');
        }
        const env = {
          ...process.env,
          ...(port !== undefined && { PORT: String(port) }),
          ...(dataDir !== undefined && { SVC_DATA_DIR: path.resolve(dataDir) }),
        };
        const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
        const child = spawn(npm, ['run', '--silent', watch ? 'dev' : 'start'], { cwd: root, env, stdio: 'inherit' });
        let isEnding = false;
        process.on('SIGTERM', (signal) => {
          isEnding = true;
          child.kill(signal);
        });
        // The terminal sends it to the whole group; this process waits for the service.
        process.on('SIGINT', () => {
          isEnding = true;
        });
        const code = await new Promise<number | null>((resolve, reject) => {
          child.once('error', reject);
          child.once('exit', resolve);
        });
        // npm tells a signal, not how the service ended.
        if (code !== 0 && !isEnding)
          throw new CliError('service_ended', 'The service did not run to its end: its message is above.');
      }),
    );
}

export function findClone(folder: string): string | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const manifest = path.join(at, 'package.json');
    const isClone = existsSync(path.join(at, 'packages/server/src/main.ts')) && existsSync(manifest);
    if (isClone && JSON.parse(readFileSync(manifest, 'utf8')).name === 'svc') return at;
    if (path.dirname(at) === at) return undefined;
  }
}
