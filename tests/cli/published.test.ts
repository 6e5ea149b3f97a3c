import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPackage } from '../../packages/cli/build/build-package.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { startSvc, svcEnv } from './support/run-svc.ts';

let service: AnyService;
let folder: string;
let main: string;
beforeAll(async () => {
  service = await TestService.shared();
  folder = mkdtempSync(path.join(tmpdir(), 'svc-cli-'));
  const built = path.join(folder, 'built');
  await buildPackage(built);
  execFileSync('npm', ['pack', built, '--pack-destination', folder], { stdio: 'ignore' });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  // As npm installs it: nothing but the tarball's content.
  execFileSync('tar', ['-xzf', path.join(folder, tarball), '-C', folder]);
  rmSync(built, { recursive: true });
  main = path.join(folder, 'package/svc.js');
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service.stop();
});

describe('the packed command line', () => {
  it('runs outside the repository with nothing else installed', async () => {
    const options = { env: svcEnv(service.server), cwd: folder, main };
    expect(await startSvc(['--version'], options)).toMatchObject({ code: 0, stdout: '0.1.0\n' });
    const { stdout } = await startSvc(['status', '--json'], options);
    expect(JSON.parse(stdout)).toMatchObject({ isReady: true, organization: { environment: 'development' } });
    expect(await startSvc(['dev'], options)).toMatchObject({ code: 2, stderr: expect.stringMatching(/no clone/) });
  });
});
