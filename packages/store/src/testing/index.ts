export { temporaryFolder } from './folder.ts';
export { everyPrefix, schemaOf } from './migrations.ts';
export { TestDatabase } from './test-database.ts';
