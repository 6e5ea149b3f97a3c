export { connect, type Database, type Db } from './database.ts';
export { EmbeddedPostgresError, type EmbeddedReason } from './embedded/error.ts';
export { findEmbedded } from './embedded/find.ts';
export { type EmbeddedPostgres, startEmbedded } from './embedded/start.ts';
export { migrate } from './migrate.ts';
export type { MigrationSet } from './migration-files.ts';
export { type Listener, type ListenHandlers, listen } from './notifications.ts';
export type { Reads } from './reads.ts';
export { Sql, sql } from './sql.ts';
