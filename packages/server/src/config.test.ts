import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

describe('the configuration', () => {
  it('needs nothing: the default is the embedded service on localhost', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      databaseUrl: undefined,
      sandbox: true,
      requestsPerMinute: 100,
    });
    expect(config.dataDir.endsWith('.svc')).toBe(true);
  });

  it('counts an empty variable as unset', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: ' ' })).toMatchObject({ port: 8080, databaseUrl: undefined });
  });

  it('names every variable that is wrong, in one message, without its value', () => {
    const wrong = {
      PORT: '80a',
      DATABASE_URL: 'mysql://u:hunter2@x/y',
      SANDBOX: 'maybe',
      SVC_DEV_SECRET_KEY: 'sk_dev_short',
    };
    const read = () => readConfig(wrong);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/PORT[\s\S]*DATABASE_URL[\s\S]*SANDBOX[\s\S]*SVC_DEV_SECRET_KEY/);
    for (const value of Object.values(wrong)) expect(read).not.toThrow(value);
  });

  it.each([
    ['DATABASE_URL', 'postgres://svc:50%off@127.0.0.1/svc'],
    ['DEV_MXN_PER_USD', '0'],
    ['DEV_MXN_PER_USD', '0.00'],
  ])('refuses %s=%s, which would only fail later', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(name);
  });

  it('takes a database address of any form that the driver reads', () => {
    const databaseUrl = 'postgres://svc@/svc?host=/run/postgresql';
    expect(readConfig({ DATABASE_URL: databaseUrl }).databaseUrl).toBe(databaseUrl);
  });

  it('takes the trailing slash off the public address, which is joined with paths', () => {
    expect(readConfig({ PUBLIC_URL: 'https://pay.example/' }).publicUrl).toBe('https://pay.example');
  });
});
