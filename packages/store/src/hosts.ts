import pg from 'pg';

/** More are a mistake in the URL. */
const MAX_HOSTS = 8;
/** Of one host, which may be gone without an answer. */
const PROBE_TIMEOUT_MS = 2_000;

interface Place {
  readonly host: string;
  readonly port: number;
}

/** Code of a refused connection: for callers it is the same. */
export class NoPrimaryError extends Error {
  override readonly name = 'NoPrimaryError';
  readonly code = 'ECONNREFUSED';
}

/** A URL for each host of `postgres://…@one:5432,two:5432/svc`, without `target_session_attrs`: always the primary. */
export function hostUrls(url: string): readonly string[] | undefined {
  const [, scheme, login = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?]*@)?([^/?]*)(.*)$/s.exec(url) ?? [];
  if (scheme === undefined) return undefined;
  const parameters = rest.replace(/([?&])target_session_attrs=[^&]*(?:&|$)/, '$1').replace(/[?&]$/, '');
  const urls = hosts.split(',').map((host) => scheme + login + host + parameters);
  if (urls.length === 1) return urls;
  const isWhole = hosts.split(',').every((host) => host !== '') && urls.every((each) => URL.canParse(each));
  return isWhole && urls.length <= MAX_HOSTS ? urls : undefined;
}

export interface Connection {
  readonly connectionString: string;
  readonly Client: typeof pg.Client;
}

const connections = new Map<string, Connection>();

export function connectionTo(url: string): Connection {
  const [first = url, ...others] = hostUrls(url) ?? [];
  if (others.length === 0) return { connectionString: first, Client: pg.Client };
  const known = connections.get(url);
  if (known) return known;
  const connection = { connectionString: first, Client: clientOf(new Primary([first, ...others])) };
  connections.set(url, connection);
  return connection;
}

class Primary {
  readonly #urls: readonly string[];
  #place: Place | undefined;
  #search: Promise<Place> | undefined;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  find(): Promise<Place> {
    if (this.#place) return Promise.resolve(this.#place);
    this.#search ??= this.#ask().finally(() => {
      this.#search = undefined;
    });
    return this.#search;
  }

  /** Connections to a lost primary end one after the other; they say nothing about its successor. */
  forget(place: Place): void {
    if (this.#place === place) this.#place = undefined;
  }

  /** Of two primaries the one of the latest promotion: the other was cut off and has come back. */
  async #ask(): Promise<Place> {
    const answers = await Promise.all(this.#urls.map((url) => probe(url)));
    const [newest] = answers
      .filter((answer) => answer !== undefined)
      .sort((one, other) => (one.timeline < other.timeline ? 1 : -1));
    if (!newest) throw new NoPrimaryError('None of the hosts of the database is a primary that answers.');
    this.#place = newest.place;
    return newest.place;
  }
}

async function probe(url: string): Promise<{ place: Place; timeline: string } | undefined> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'svc primary search',
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ timeline: string | null }>(`
      select case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`);
    const timeline = rows[0]?.timeline ?? undefined;
    return timeline === undefined ? undefined : { place: { host: client.host, port: client.port }, timeline };
  } catch {
    // Not reachable, starting or stopping: another host may be the primary.
    return undefined;
  } finally {
    client.end().catch(() => {});
  }
}

type Connected = (error: Error | undefined, client?: pg.Client) => void;

interface Internals {
  host: string;
  port: number;
  readonly connection: {
    on(event: 'parameterStatus', listener: (status: { parameterName: string; parameterValue: string }) => void): void;
  };
}

function clientOf(primary: Primary): typeof pg.Client {
  class PrimaryClient extends pg.Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: Parameters<pg.Client['connect']>[0]): void;
    override connect(callback?: unknown): unknown {
      const connecting = this.#connect();
      const done = callback as Connected | undefined;
      if (!done) return connecting;
      connecting.then(
        () => done(undefined, this),
        (error: Error) => done(error),
      );
      return undefined;
    }

    async #connect(): Promise<pg.Client> {
      const place = await primary.find();
      const internals = this as unknown as Internals;
      internals.host = place.host;
      internals.port = place.port;
      let isStandby = false;
      internals.connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
        if (parameterName === 'in_hot_standby') isStandby = parameterValue === 'on';
      });
      try {
        await super.connect();
      } catch (error) {
        primary.forget(place);
        throw error;
      }
      this.on('error', () => primary.forget(place));
      if (!isStandby) return this;
      primary.forget(place);
      await this.end();
      throw new NoPrimaryError('The host that was the primary is a standby now.');
    }
  }
  return PrimaryClient as unknown as typeof pg.Client;
}
