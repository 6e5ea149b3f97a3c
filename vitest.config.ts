import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'contracts/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['packages/store/src/testing/global-setup.ts', 'packages/web/build/testing/global-setup.ts'],
    // Two cores: more workers only make the servers and databases of the tests wait for one another.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});
