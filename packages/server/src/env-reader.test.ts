import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { ConfigError } from './env-reader.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'svc-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

function secretFile(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

function problemsOf(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

describe('a variable that is given as a file', () => {
  it('has the content of the file, without the white space around it', () => {
    const env = {
      DATABASE_URL_FILE: secretFile('database', '  postgres://svc:hunter2@db/svc\n'),
      METRICS_TOKEN_FILE: secretFile('metrics', 'token\r\n'),
      PORT_FILE: secretFile('port', '8181'),
      FULFILMENT_URL: 'https://fulfilment.example.com/orders',
      FULFILMENT_SECRET_FILE: secretFile('fulfilment', `whsec_${Buffer.alloc(32, 1).toString('base64')}\n`),
    };
    expect(readConfig(env)).toMatchObject({
      databaseUrl: 'postgres://svc:hunter2@db/svc',
      metricsToken: 'token',
      port: 8181,
      fulfilment: { secret: Buffer.alloc(32, 1) },
      warnings: [],
    });
  });

  it('reads the keys of accounts', () => {
    const file = secretFile('relayers', '0x1:0xa,\n0x2:0xb\n');
    expect(readConfig({ RELAYER_ACCOUNTS_FILE: file }).relayers).toEqual([
      { address: 1n, privateKey: 10n },
      { address: 2n, privateKey: 11n },
    ]);
  });

  it('is refused beside the variable itself, and shows neither', () => {
    const env = { METRICS_TOKEN: 'hunter2', METRICS_TOKEN_FILE: secretFile('both', 'hunter3') };
    expect(problemsOf(env)).toBe(
      'The configuration is not usable:\n  METRICS_TOKEN_FILE must not be set besides METRICS_TOKEN',
    );
  });

  it('may stand beside an empty variable, which counts as unset', () => {
    const file = secretFile('beside', 'token');
    expect(readConfig({ METRICS_TOKEN: '', METRICS_TOKEN_FILE: file }).metricsToken).toBe('token');
    expect(readConfig({ METRICS_TOKEN: 'token', METRICS_TOKEN_FILE: '' }).metricsToken).toBe('token');
  });

  it.each([
    ['that does not exist', () => path.join(folder, 'hunter2'), 'can be read (ENOENT)'],
    ['that is a folder', () => folder, 'can be read (EISDIR)'],
    ['that is empty', () => secretFile('empty', ' \n'), 'is not empty'],
  ])('is refused with a file %s, once and without its path', (_, file, problem) => {
    const message = problemsOf({ FULFILMENT_URL: 'https://f.example', FULFILMENT_SECRET_FILE: file() });
    expect(message).toBe(`The configuration is not usable:\n  FULFILMENT_SECRET_FILE must name a file that ${problem}`);
  });

  it('is checked like the variable, whose name the refusal has', () => {
    const message = problemsOf({ DATABASE_URL_FILE: secretFile('wrong', 'mysql://u:hunter2@x/y') });
    expect(message).toContain('DATABASE_URL must start with postgres://');
    expect(message).not.toContain('hunter2');
  });

  it('is told from a slip', () => {
    const warnings = readConfig({ DATABSE_URL_FILE: '/x', SVC_SECRET_FILE: '/x', COMPOSE_FILE: 'x' }).warnings;
    expect(warnings).toEqual([
      'DATABSE_URL_FILE is not a setting. Is DATABASE_URL_FILE meant?',
      'SVC_SECRET_FILE is not a setting.',
    ]);
  });
});
