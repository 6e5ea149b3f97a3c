import path from 'node:path';
import type { MigrationSet } from '@svc/store';

export const serverMigrations: MigrationSet = {
  name: 'svc',
  folder: path.resolve(import.meta.dirname, '../migrations'),
};
