import { describe, expect, it } from 'vitest';
import { type BannerFacts, banner, createTextLog, toText } from './log.ts';

const ESCAPE = String.fromCharCode(27);
const at = new Date(2026, 10, 17, 9, 5, 7).getTime();
const line = (fields: object) => `${JSON.stringify({ level: 30, time: at, ...fields })}\n`;

describe('a log line on a terminal', () => {
  it('is one request in a few words', () => {
    const request = line({ reqId: 'a', method: 'GET', route: '/v1/skus', status: 200, ms: 3.1, msg: 'request' });
    expect(toText(request, false)).toBe('09:05:07 GET /v1/skus 200 3.1 ms\n');
  });

  it('is a message with its fields, its level where it matters, and a stack below', () => {
    expect(toText(line({ skus: 3, msg: 'SKU catalogue loaded' }), false)).toBe(
      '09:05:07 SKU catalogue loaded skus=3\n',
    );
    const failure = line({ level: 50, msg: 'job failed', err: { stack: 'Error: no\n    at run' } });
    expect(toText(failure, false)).toBe('09:05:07 error job failed\n    Error: no\n        at run\n');
  });

  it('is coloured, unless that is not wanted', () => {
    expect(toText(line({ level: 40, msg: 'careful' }), true)).toContain(`${ESCAPE}[33mwarning${ESCAPE}[0m`);
    expect(toText(line({ level: 40, msg: 'careful' }), false)).not.toContain(ESCAPE);
  });

  it('is left as it is where it is no log line', () => {
    expect(toText('plain text\n', true)).toBe('plain text\n');
  });

  it('stands before what is printed after it, and is left out below the level', () => {
    const written: string[] = [];
    const log = createTextLog('warn', (text) => void written.push(text), false);
    log.logger.info('quiet');
    log.writeLine(line({ msg: 'request' }));
    log.logger.warn('loud');
    log.print('\nready\n');
    expect(written).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d warning loud\n$/), '\nready\n']);
  });
});

describe('the banner', () => {
  const facts: BannerFacts = {
    role: 'all',
    publicUrl: 'http://127.0.0.1:8080',
    startedInMs: 1_234,
    database: 'embedded',
    development: { publicKey: 'pk_dev_1', secretKey: 'sk_dev_secret' },
    signInUrl: undefined,
    credentialsFile: '.svc/credentials.json',
    isTerminal: true,
  };

  it('shows the secret key and a first request on a terminal', () => {
    expect(banner(facts)).toContain('Secret key  sk_dev_secret');
    expect(banner(facts)).toContain("-H 'Authorization: Bearer sk_dev_secret'");
  });

  it('shows where the secret key is, and not the key, in a file or pipe', () => {
    const text = banner({ ...facts, isTerminal: false });
    expect(text).toContain('Secret key  in .svc/credentials.json');
    expect(text).not.toContain('sk_dev');
    expect(text).toContain('svc is ready (1.2 s)');
  });
});
