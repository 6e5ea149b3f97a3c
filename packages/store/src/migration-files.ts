import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A folder of files NNNN_name.sql, numbered from 0001 without gaps. */
export interface MigrationSet {
  readonly name: string;
  readonly folder: string;
}

export interface Migration {
  readonly number: number;
  /** The file's name without its ending. */
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

export function readMigrations(set: MigrationSet): readonly Migration[] {
  const files = readdirSync(set.folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return files.map((file, index) => {
    const number = Number(FILE_NAME.exec(file)?.[1]);
    const where = `${path.join(set.folder, file)}:`;
    if (Number.isNaN(number)) throw new Error(`${where} a migration is named NNNN_what_it_does.sql.`);
    if (number <= index) throw new Error(`${where} two migrations have the number ${number}, or it is 0000.`);
    if (number !== index + 1) throw new Error(`${where} migration ${index + 1} is missing before it.`);
    return { number, name: file.slice(0, -'.sql'.length), ...readText(path.join(set.folder, file)) };
  });
}

// A checkout with other line endings is the same migration.
function readText(file: string): { text: string; checksum: string } {
  const text = readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  return { text, checksum: createHash('sha256').update(text).digest('hex') };
}
