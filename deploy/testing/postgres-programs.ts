import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

export const isRoot = process.getuid?.() === 0;

/** Programs that the embedded database does not have: Debian's, or those of the path. PostgreSQL does not run as root. */
export function findPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).map((name) => path.join(debian, name, 'bin')) : [];
  const places = [...versions, ...(process.env.PATH ?? '').split(path.delimiter)];
  const found = places.find((place) =>
    ['pg_basebackup', 'initdb', 'pg_ctl', 'psql'].every((name) => existsSync(path.join(place, name))),
  );
  return isRoot && !canBecomePostgres() ? undefined : found;
}

function canBecomePostgres(): boolean {
  try {
    execFileSync('runuser', ['-u', 'postgres', '--', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
