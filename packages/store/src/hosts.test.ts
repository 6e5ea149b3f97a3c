import { describe, expect, it } from 'vitest';
import { hostUrls } from './hosts.ts';

describe('a database URL', () => {
  it('with one host stays as it is', () => {
    for (const url of ['postgres://svc:p%40ss@db:5432/svc?sslmode=require', 'postgresql:///svc?host=/run/postgresql']) {
      expect(hostUrls(url)).toEqual([url]);
    }
  });

  it('with several hosts is one for each, with the same login, database and parameters', () => {
    expect(hostUrls('postgres://svc:p%40ss@one:5432,[::1]:5433,three/svc?sslmode=require')).toEqual([
      'postgres://svc:p%40ss@one:5432/svc?sslmode=require',
      'postgres://svc:p%40ss@[::1]:5433/svc?sslmode=require',
      'postgres://svc:p%40ss@three/svc?sslmode=require',
    ]);
  });

  it('needs no target_session_attrs, which other programs write there', () => {
    expect(hostUrls('postgres://a,b/svc?target_session_attrs=read-write')).toEqual([
      'postgres://a/svc',
      'postgres://b/svc',
    ]);
    expect(hostUrls('postgres://a/svc?target_session_attrs=any&sslmode=require')).toEqual([
      'postgres://a/svc?sslmode=require',
    ]);
  });

  it.each([
    'postgres://a,/svc',
    'postgres://,a/svc',
    'postgres://a:x,b/svc',
    `postgres://${Array(9).fill('a').join(',')}/svc`,
    'mysql://a/svc',
  ])('is refused where its hosts cannot be read: %s', (url) => {
    expect(hostUrls(url)).toBeUndefined();
  });
});
