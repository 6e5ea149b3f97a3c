import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import { type Reply, type Send, send } from './client.ts';
import { type Keys, newKeys, newOrganization } from './service.ts';

export type Headers = Record<string, string>;

/** What an organisation asks of one process or another with its keys. */
export interface Management {
  readonly organizationId: string;
  readonly keys: Keys;
  get(path: string, url?: string): Promise<Reply>;
  post(path: string, body: unknown, headers?: Headers): Promise<Reply>;
  patch(path: string, body: unknown): Promise<Reply>;
  delete(path: string): Promise<Reply>;
}

/** Keys of a new organisation, or more keys of an old one. */
export async function newManagement(
  db: Db,
  baseUrl: string,
  environment: Environment = 'development',
  organizationId?: string,
): Promise<Management> {
  const owner = organizationId ?? (await newOrganization(db, 'Tienda Azul'));
  const keys = await newKeys(db, owner, environment);
  const ask = (path: string, options: Send = {}, url = baseUrl) =>
    send(`${url}/organization${path}`, { ...options, headers: { ...keys.headers, ...options.headers } });
  return {
    organizationId: owner,
    keys,
    get: (path, url) => ask(path, {}, url),
    post: (path, body, headers = {}) => ask(path, { method: 'POST', body, headers }),
    patch: (path, body) => ask(path, { method: 'PATCH', body }),
    delete: (path) => ask(path, { method: 'DELETE' }),
  };
}

export interface ShownKey {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly revokedAt: string | null;
  readonly secretKey?: string | null;
}

export const bodyOf = <T>({ status, body, text }: Reply, wanted: number): T => {
  if (status !== wanted) throw new Error(`${status} ${text}`);
  return body as T;
};
