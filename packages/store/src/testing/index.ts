export { everyPrefix, schemaOf } from './migrations.ts';
export { TestDatabase } from './test-database.ts';
