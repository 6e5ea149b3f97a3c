import { type Reads, type Sql, sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import type { JobHandlers, RecurringJob } from '../jobs/job.ts';
import type { Handlers } from './call.ts';
import type { Checks, GaugeSource } from './monitoring.ts';

export interface Jobs {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
}

/** What a capability adds to the process. `K` names its endpoints, so the compiler reports one without a handler. */
export interface Module<K extends keyof Handlers = never> {
  readonly handlers: Pick<Handlers, K>;
  readonly jobs?: readonly Jobs[];
  readonly gauges?: readonly GaugeSource[];
  readonly checks?: Checks;
  /** Routes below `/v1` that are not part of the public interface, such as a provider's callback. */
  readonly routes?: (v1: FastifyInstance) => Promise<void>;
}

/** One table of several. A name that two of them have is a mistake in the code and stops the start. */
export function mergeUnique<T>(kind: string, tables: readonly Readonly<Record<string, T>>[]): Record<string, T> {
  const merged: Record<string, T> = {};
  for (const [name, value] of tables.flatMap((table) => Object.entries(table))) {
    if (Object.hasOwn(merged, name)) throw new Error(`Two modules have the ${kind} ${name}.`);
    merged[name] = value;
  }
  return merged;
}

export function mergeJobs(all: readonly Jobs[]): Jobs {
  const recurring = all.flatMap((jobs) => jobs.recurring);
  mergeUnique(
    'recurring job',
    recurring.map((job) => ({ [job.task]: job })),
  );
  return {
    handlers: mergeUnique(
      'job',
      all.map(({ handlers }) => handlers),
    ),
    recurring,
  };
}

/** A gauge over the rows of a query: a column for each label, and `value`. */
export function queryGauge(reads: Reads, about: Omit<GaugeSource, 'read'>, query: Sql): GaugeSource {
  return {
    ...about,
    read: async () => {
      const rows = await reads.rows<Record<string, string> & { value: number }>(query);
      return rows.map((row) => ({
        labels: Object.fromEntries(about.labelNames.map((name) => [name, String(row[name])])),
        value: row.value,
      }));
    },
  };
}

/** Rows of a table by their environment; `from` is the table and its condition. */
export function countGauge(reads: Reads, name: string, help: string, from: Sql): GaugeSource {
  const query = sql`select environment, count(*)::integer as value from ${from} group by environment`;
  return queryGauge(reads, { name, help, labelNames: ['environment'] }, query);
}

export function processGauge(name: string, help: string, value: () => number): GaugeSource {
  return { name, help, labelNames: [], read: async () => [{ labels: {}, value: value() }] };
}
