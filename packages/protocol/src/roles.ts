import type { Endpoint } from './endpoint.ts';
import { type Environment, type Role, roles } from './enums.ts';

/** The least role that may call an endpoint. Reads are for every member, changes for developers, unless the endpoint says otherwise. */
export function requiredRole(
  { method, access, role }: Pick<Endpoint, 'method' | 'access' | 'role'>,
  environment: Environment,
): Role {
  if (role !== undefined) return typeof role === 'string' ? role : role[environment];
  // A person's own session and passkeys.
  if (access === 'session') return 'VIEWER';
  return method === 'GET' ? 'VIEWER' : 'DEVELOPER';
}

/** `roles` is in ascending order. */
export const includesRole = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);
