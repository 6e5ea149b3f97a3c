export { everyPrefix, schemaOf } from './migrations.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
