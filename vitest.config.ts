import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Compiled code outlives a run: with it, servers and threads start in two thirds of the time.
process.env.NODE_COMPILE_CACHE ??= path.join(tmpdir(), 'svc-test-compile-cache');

const database = 'packages/store/src/testing/global-setup.ts';
const pages = 'packages/web/build/testing/global-setup.ts';
const sharedService = 'tests/support/shared-service.ts';
/** Once for each secret and salt. The library's WebAssembly is what `unit` runs, and `browser` in pages of the library every time. */
const stretching = path.resolve(import.meta.dirname, 'packages/sdk/testing/stretching.ts');
/** Names of statements are given once for a process, up to a bound: these files count them, or need one. */
const needIsolation = ['sql.test.ts', 'database.db.test.ts', 'statement.db.test.ts'].map(
  (file) => `packages/store/src/${file}`,
);
const databaseTests = 'packages/**/*.db.test.ts';

/** What takes longest, so that no worker ends the run alone with it. Others start by their size. */
const LONGEST = [
  ...['rotation', 'deploy-guide', 'start-and-stop', 'treasuries-kills', 'deposits-kills', 'wallets-many', 'upgrade'],
  ...['sandbox-durability', 'failover', 'restore', 'setup', 'scenarios'],
  ...['dashboard-gifts', 'dashboard-sandbox', 'recipient-wallet', 'dashboard-members', 'react', 'example'],
  ...['examples', 'statuses', 'provider', 'least-privilege', 'packages', 'solana', 'commands', 'dev'],
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    const rank = ({ moduleId, project }: TestSpecification) => {
      const found = LONGEST.indexOf(path.basename(moduleId, '.test.ts'));
      // Within its project: a worker that is not isolated serves one.
      return projects.indexOf(project.name) * (LONGEST.length + 1) + (found < 0 ? LONGEST.length : found);
    };
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

/** The tiers, fastest first. CONTRIBUTING.md says which command runs which. */
export default defineConfig({
  test: {
    // Tests wait for servers, browsers and databases: three workers leave a seventh of two cores unused.
    maxWorkers: availableParallelism() + 2,
    // They bound a hang, not speed: a shared machine has been ten times slower than a quiet one.
    testTimeout: 120_000,
    hookTimeout: 300_000,
    // `expect.poll` gives up after one second, and asks twenty times in it, unless told otherwise.
    expect: { poll: { timeout: 60_000, interval: 100 } },
    // Real servers, browsers and clocks on a shared machine: a second failure in a row counts. Locally the first one does.
    retry: process.env.CI ? 1 : 0,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        resolve: { alias: { 'hash-wasm': stretching } },
        test: {
          name: 'unit',
          env: { SVC_TEST_STRETCHING: 'wasm' },
          include: [
            'packages/*/src/**/*.test.ts',
            'contracts/{build,casm}/**/*.test.ts',
            'scripts/**/*.test.ts',
            'deploy/*.test.ts',
            'tests/architecture.test.ts',
            'tests/sdk/size.test.ts',
          ],
          exclude: [databaseTests, ...needIsolation],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'db',
          include: [databaseTests],
          exclude: needIsolation,
          globalSetup: [database],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'db-isolated', include: needIsolation, globalSetup: [database] } },
      {
        extends: true,
        resolve: { alias: { 'hash-wasm': stretching } },
        test: {
          name: 'service',
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/{browser,chaos,contracts,live}/**', 'tests/architecture.test.ts', 'tests/sdk/size.test.ts'],
          globalSetup: [database, pages, sharedService],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          globalSetup: [database, pages, sharedService],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'chaos',
          include: ['tests/chaos/**/*.test.ts', 'deploy/backup/*.test.ts'],
          globalSetup: [database, pages, sharedService],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'contracts',
          include: [
            'contracts/scenarios/**/*.test.ts',
            'contracts/treasury/**/*.test.ts',
            'tests/contracts/**/*.test.ts',
          ],
          globalSetup: [database, pages, sharedService],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'live',
          include: ['tests/live/**/*.test.ts'],
          globalSetup: [database, pages],
        },
      },
    ],
  },
});
