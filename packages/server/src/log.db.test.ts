import path from 'node:path';
import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../testing/database.ts';
import { showError } from './log.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await serverDatabase();
});
afterAll(() => database.drop());

const SECRET = 'whsec_of-nobody-else';

function logged(fields: object): string {
  const lines: string[] = [];
  const serializers = { err: showError, cause: showError };
  pino({ serializers }, { write: (line: string) => void lines.push(line) }).error(fields, 'failed');
  return lines.join('');
}

describe('an error in the log', () => {
  it('of the database says what was refused, and nothing of the row', async () => {
    // The database tells the whole failing row in the details of its error.
    const error: unknown = await database.db
      .run(sql`insert into organizations (id, name) values (${SECRET}, '')`)
      .catch((failure: unknown) => failure);
    expect(JSON.stringify(error)).toContain(SECRET);
    for (const field of ['err', 'cause']) {
      const line = logged({ [field]: error });
      expect(line).toContain('organizations_name_check');
      expect(line).not.toContain(SECRET);
    }
  });

  it('keeps its message, its stack and its causes', () => {
    const line = logged({ err: new Error('outer', { cause: new Error('inner') }) });
    expect(line).toContain('outer: inner');
    expect(line).toContain(path.basename(import.meta.filename));
  });
});
