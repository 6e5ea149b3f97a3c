import { readdirSync, readFileSync } from 'node:fs';
import { type Database, sql } from '@svc/store';

export interface Cost {
  readonly serviceMs: number;
  readonly databaseMs: number;
  /** Of this process, which makes the load. */
  readonly loadMs: number;
  readonly statements: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly walBytes: number;
  /** Of the samples of busy connections: those that waited for a lock of a row or transaction. */
  readonly lockWaits: number;
}

interface Counters {
  readonly statements: number;
  readonly read: number;
  readonly written: number;
  readonly wal: number;
}

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;
const SAMPLE_EVERY_MS = 50;
const SETTLE_MS = 1_200;

/** Processor time by /proc, so on Linux only. */
export class Meter {
  readonly #db: Database;
  readonly #service: readonly number[];
  readonly #postmaster: number;
  readonly #before: { readonly service: number; readonly database: number; readonly load: number };
  readonly #counters: Counters;
  readonly #sampling: NodeJS.Timeout;
  #samples = 0;
  #waits = 0;

  private constructor(db: Database, service: readonly number[], postmaster: number, counters: Counters) {
    this.#db = db;
    this.#service = service;
    this.#postmaster = postmaster;
    this.#counters = counters;
    this.#before = this.#times();
    this.#sampling = setInterval(() => void this.#sample(), SAMPLE_EVERY_MS);
  }

  static async start(db: Database, service: readonly number[]): Promise<Meter> {
    const row = await db.one<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    const postmaster = Number(fieldsOf(row?.pid ?? 0)[PARENT]);
    return new Meter(db, service, postmaster, await readCounters(db));
  }

  async stop(): Promise<Cost> {
    clearInterval(this.#sampling);
    const after = this.#times();
    // Connections report their counters about once a second.
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const counters = await readCounters(this.#db);
    const [before, old] = [this.#before, this.#counters];
    return {
      serviceMs: after.service - before.service,
      databaseMs: after.database - before.database,
      loadMs: after.load - before.load,
      statements: counters.statements - old.statements,
      rowsRead: counters.read - old.read,
      rowsWritten: counters.written - old.written,
      walBytes: counters.wal - old.wal,
      lockWaits: this.#samples === 0 ? 0 : this.#waits / this.#samples,
    };
  }

  async #sample(): Promise<void> {
    const row = await this.#db.one<{ busy: number; waiting: number }>(sql`
      select count(*)::integer as busy, count(*) filter (where wait_event_type = 'Lock')::integer as waiting
        from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() and datname = current_database()`);
    this.#samples += row?.busy ?? 0;
    this.#waits += row?.waiting ?? 0;
  }

  #times() {
    const { user, system } = process.cpuUsage();
    const sum = (pids: readonly number[]) => pids.reduce((total, pid) => total + processorMs(pid), 0);
    return { service: sum(this.#service), database: postgresMs(this.#postmaster), load: (user + system) / 1_000 };
  }
}

/** Places in /proc/PID/stat, after the name. */
const PARENT = 1;
const OWN = [11, 12];
/** Of children that have ended. */
const ENDED = [13, 14];

/** Empty for one that has ended. */
function fieldsOf(pid: number | string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
  } catch {
    return [];
  }
}

const msOf = (fields: readonly string[], places: readonly number[]): number =>
  places.reduce((sum, place) => sum + Number(fields[place] ?? 0) * TICK_MS, 0);

const processorMs = (pid: number): number => msOf(fieldsOf(pid), OWN);

/** The server, its processes, and connections that were closed meanwhile. */
function postgresMs(postmaster: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(fieldsOf)
    .filter((fields) => Number(fields[PARENT]) === postmaster);
  return children.reduce((sum, fields) => sum + msOf(fields, OWN), msOf(fieldsOf(postmaster), [...OWN, ...ENDED]));
}

async function readCounters(db: Database): Promise<Counters> {
  const row = await db.one<Record<'statements' | 'read' | 'written' | 'wal', string>>(sql`
    select (select coalesce(sum(calls), 0)::text from pg_stat_statements) as statements,
           (tup_fetched)::text as read, (tup_inserted + tup_updated + tup_deleted)::text as written,
           (select wal_bytes::text from pg_stat_wal) as wal
      from pg_stat_database where datname = current_database()`);
  if (!row) throw new Error('The database has no statistics.');
  return {
    statements: Number(row.statements),
    read: Number(row.read),
    written: Number(row.written),
    wal: Number(row.wal),
  };
}
