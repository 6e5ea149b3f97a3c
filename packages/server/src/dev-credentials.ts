import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** What an app needs to talk to this service in development. */
export interface Credentials {
  readonly baseUrl: string;
  readonly publicKey: string;
  readonly secretKey: string;
  readonly organizationId: string;
  readonly rpcUrl: string;
}

/** Answers what was kept; a missing or damaged file is as good as none. */
export async function readCredentials(file: string): Promise<Partial<Credentials>> {
  try {
    const kept: unknown = JSON.parse(await readFile(file, 'utf8'));
    return kept !== null && typeof kept === 'object' ? kept : {};
  } catch {
    return {};
  }
}

/** Replaces the file in one step, readable by its owner only from the first byte on. */
export async function writeCredentials(file: string, credentials: Partial<Credentials>): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, file);
}
