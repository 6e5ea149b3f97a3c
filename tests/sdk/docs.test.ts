import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createSvc } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FakeAuthenticator } from '../../packages/sdk/testing/fake-authenticator.ts';
import { TestService } from '../support/service.ts';
import {
  EXAMPLE_LIMIT_MS,
  type ExampleFixture,
  PREPARE_LIMIT_MS,
  prepareExamples,
  scopeOf,
} from './support/example-scope.ts';
import { readBlocks } from './support/read-examples.ts';
import { runExample } from './support/run-example.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const guide = readFileSync(path.join(root, 'docs/sdk.md'), 'utf8');
const privateBalances = readFileSync(path.join(root, 'docs/private-balance.md'), 'utf8');
const blocks = [...readBlocks(guide, 'js'), ...readBlocks(privateBalances, 'js')];
const isProgram = ({ code }: { code: string }) => code.startsWith('import ');

let service: TestService;
let fixture: ExampleFixture;

beforeAll(async () => {
  vi.stubGlobal('navigator', { userAgent: navigator.userAgent, credentials: new FakeAuthenticator() });
  service = await TestService.hosted();
  const { dataDir } = service.server;
  // The program expects the keys where `npm start` leaves them, and the library among the dependencies.
  await symlink(dataDir, path.join(dataDir, '.svc'));
  await symlink(path.join(root, 'node_modules'), path.join(dataDir, 'node_modules'));
  fixture = await prepareExamples(service);
}, PREPARE_LIMIT_MS);
afterAll(async () => {
  vi.unstubAllGlobals();
  await service.stop();
});

describe('the guide to the library', () => {
  it(
    'has a ten-line program that creates a wallet, unchanged',
    async () => {
      const [program, ...others] = blocks.filter(isProgram);
      expect(others).toEqual([]);
      const script = program?.code ?? '';
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
        cwd: service.server.dataDir,
      });
      expect(stdout).toMatch(/^0x[0-9a-f]{64} \{/);
      expect(stdout).toContain("balance: '0'");
      expect(script.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(10);
    },
    EXAMPLE_LIMIT_MS,
  );

  // These blocks use the same scope as the examples in doc comments.
  it.each(blocks.filter((block) => !isProgram(block)).map(({ place, code }) => [place, code]))(
    'has an example that runs: %s',
    async (_, code) => {
      await runExample(code, await scopeOf(fixture, code));
    },
    EXAMPLE_LIMIT_MS,
  );

  it('lists every operation in its table', () => {
    const names = Object.entries(createSvc({ baseUrl: 'https://svc.example/v1', publicKey: 'pk_dev_x' })).flatMap(
      ([name, value]) => (typeof value === 'function' ? [name] : Object.keys(value).map((inner) => `${name}.${inner}`)),
    );
    expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
  });

  it('lists every code that the library throws', () => {
    const errors = readFileSync(path.join(root, 'packages/sdk/src/client/errors.ts'), 'utf8');
    const codes = [...errors.matchAll(/'([a-z]+(?:_[a-z]+)+|[A-Z]+(?:_[A-Z]+)+)'/g)].map(([, code = '']) => code);
    const webhook = errors.slice(errors.indexOf('class SvcWebhookError'));
    const documented = codes.filter((code) => !webhook.includes(`'${code}'`) && code !== 'wallet_not_found');
    expect(documented.filter((code) => !guide.includes(`\`${code}\``))).toEqual([]);
  });
});
