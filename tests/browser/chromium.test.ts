import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from './support/chromium.ts';

let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'svc-chromium-'));
  program = path.join(folder, 'google-chrome');
  await writeFile(program, '#!/bin/sh\n');
  await chmod(program, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the browser of the tests', () => {
  it('is the one that SVC_CHROMIUM names', () => {
    expect(findChromium({ SVC_CHROMIUM: program, PATH: '' })).toBe(program);
  });

  it('is found on the path otherwise', () => {
    expect(findChromium({ PATH: ['/nowhere', folder].join(path.delimiter) })).toBe(program);
  });

  it('is never another one than SVC_CHROMIUM names', () => {
    const missing = path.join(folder, 'missing');
    expect(() => findChromium({ SVC_CHROMIUM: missing, PATH: folder })).toThrow('Install Chromium or Chrome');
  });
});
