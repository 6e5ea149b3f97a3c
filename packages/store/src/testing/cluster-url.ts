/** Set by whoever runs the tests, to use a server of theirs; else by the global set-up, for the workers. */
export const CLUSTER_VARIABLE = 'SVC_TEST_DATABASE_URL';

export function clusterUrl(): string {
  const url = process.env[CLUSTER_VARIABLE];
  if (url) return url;
  throw new Error(
    `No PostgreSQL for the tests: set ${CLUSTER_VARIABLE}, or name testing/global-setup.ts in vitest's globalSetup.`,
  );
}
