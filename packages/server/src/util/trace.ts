import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';

export interface TraceSettings {
  /** Without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Of traces that begin here, from 0 to 1. */
  readonly ratio: number;
}

type Api = typeof import('@opentelemetry/api');

/** Where the code runs: in which span, and what is stored so that later steps continue the trace. */
interface Place {
  readonly tracing: Tracing;
  readonly context: Context;
  readonly origin: string | undefined;
}

const places = new AsyncLocalStorage<Place>();
const TRACEPARENT = /^00-(?<trace>[0-9a-f]{32})-(?<span>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/;
const EXPORT_EVERY_MS = 1_000;
const EXPORT_TIMEOUT_MS = 5_000;
const MAX_QUEUED_SPANS = 2_048;

/** The request or job that this runs for, as a W3C `traceparent`; undefined where nothing is traced. */
export const traceparent = (): string | undefined => places.getStore()?.origin;

/** Asked before a stored `traceparent` is read, which costs a statement. */
export const isTraced = (): boolean => places.getStore() !== undefined;

export interface SpanOptions {
  readonly attributes?: Attributes;
  /** In place of the span that this runs in; without either there is no span. */
  readonly parent?: string | undefined;
  readonly startedAt?: Date;
}

/** Runs it in a span of its own. Where nothing is traced it only runs it. */
export function traced<T>(name: string, options: SpanOptions, run: (span?: Span) => Promise<T>): Promise<T> {
  const place = places.getStore();
  return place ? place.tracing.run(name, options, run, place) : run();
}

/** Spans of one service, sent to an OTLP receiver. It exists only where tracing is on. */
export class Tracing {
  readonly #api: Api;
  readonly #tracer: Tracer;
  readonly #shutdown: () => Promise<void>;

  private constructor(api: Api, tracer: Tracer, shutdown: () => Promise<void>) {
    this.#api = api;
    this.#tracer = tracer;
    this.#shutdown = shutdown;
  }

  /** Nothing of OpenTelemetry is loaded before. */
  static async start({ endpoint, headers, serviceName, ratio }: TraceSettings): Promise<Tracing> {
    const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
    const exporter = new OTLPTraceExporter({
      url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
      headers: { ...headers },
      timeoutMillis: EXPORT_TIMEOUT_MS,
    });
    const provider = new sdk.TracerProvider({
      resource: resourceFromAttributes({ 'service.name': serviceName }),
      sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) }),
      spanProcessors: [
        new sdk.BatchSpanProcessor({
          exporter,
          scheduledDelayMillis: EXPORT_EVERY_MS,
          exportTimeoutMillis: EXPORT_TIMEOUT_MS,
          maxQueueSize: MAX_QUEUED_SPANS,
        }),
      ],
    });
    return new Tracing(api, provider.getTracer('svc'), () => provider.shutdown());
  }

  /** Sends what is left. */
  stop(): Promise<void> {
    return this.#shutdown();
  }

  /** A span that the caller ends; `within` runs code in it. */
  begin(name: string, attributes: Attributes, parent: string | undefined): TracedRequest {
    const { trace, SpanKind } = this.#api;
    const context = this.#contextOf(parent);
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, context);
    const place: Place = { tracing: this, context: trace.setSpan(context, span), origin: this.#originOf(span) };
    return {
      within: (run) => places.run(place, run),
      end: (status) => {
        span.setAttribute('http.response.status_code', status);
        if (status >= 500) span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  /** Steps of a job that no traced request caused are not traced, except those that name a parent of their own. */
  runJob(task: string, parent: string | null, run: () => Promise<void>): Promise<void> {
    const { ROOT_CONTEXT } = this.#api;
    const origin = parent ?? undefined;
    const place: Place = { tracing: this, context: ROOT_CONTEXT, origin };
    return places.run(place, () => (origin === undefined ? run() : traced(`job ${task}`, { parent: origin }, run)));
  }

  /** What it stores continues the trace at the place's origin, so that repeated jobs are siblings and not a chain. */
  async run<T>(name: string, options: SpanOptions, run: (span?: Span) => Promise<T>, place: Place): Promise<T> {
    const { trace, SpanStatusCode } = this.#api;
    const { attributes = {}, parent, startedAt } = options;
    const context = parent === undefined ? place.context : this.#contextOf(parent);
    if (!trace.getSpanContext(context)) return run();
    const span = this.#tracer.startSpan(name, { attributes, ...(startedAt && { startTime: startedAt }) }, context);
    try {
      return await places.run({ ...place, context: trace.setSpan(context, span) }, () => run(span));
    } catch (error) {
      // Messages may quote addresses and amounts; the log has them.
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'unknown' });
      throw error;
    } finally {
      span.end();
    }
  }

  #contextOf(parent: string | undefined): Context {
    const { ROOT_CONTEXT, trace } = this.#api;
    const { trace: traceId, span: spanId, flags } = TRACEPARENT.exec(parent ?? '')?.groups ?? {};
    if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
    const traceFlags = Number.parseInt(flags, 16);
    return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
  }

  #originOf(span: Span): string {
    const { traceId, spanId, traceFlags } = span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }
}

export interface TracedRequest {
  within<T>(run: () => T): T;
  end(status: number): void;
}
