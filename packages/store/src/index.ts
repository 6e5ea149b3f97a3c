export { isDatabaseUnavailable } from './client.ts';
export { connect, type Database, type Db } from './database.ts';
export { EmbeddedPostgresError, type EmbeddedReason } from './embedded/error.ts';
export { embeddedFolder } from './embedded/place.ts';
export { type EmbeddedOptions, type EmbeddedPostgres, findEmbedded, startEmbedded } from './embedded/start.ts';
export { type MigrationSet, migrate } from './migrate.ts';
export { type Listener, type ListenHandlers, listen } from './notifications.ts';
export type { Reads } from './reads.ts';
export { Sql, sql } from './sql.ts';
