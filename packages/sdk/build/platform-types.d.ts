// Types of the platform that the declarations use. A project that has them (DOM, or those of Node) gets its own; one with
// `lib: ["ES2022"]` alone gets the part that the library needs.
type Instance<Name extends string, Fallback> = typeof globalThis extends { [K in Name]: { prototype: infer T } }
  ? T
  : Fallback;

export type AbortSignal = Instance<'AbortSignal', { readonly aborted: boolean; readonly reason: unknown }>;
export type URL = Instance<'URL', { readonly href: string }>;
export type Response = Instance<
  'Response',
  { readonly ok: boolean; readonly status: number; text(): Promise<string>; json(): Promise<unknown> }
>;
export type RequestInit = typeof globalThis extends { fetch: (input: never, init?: infer T) => unknown }
  ? NonNullable<T>
  : { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal };
export type SubtleCrypto = typeof globalThis extends { crypto: { subtle: infer T } } ? T : object;
export type MessagePort = Instance<'MessagePort', { postMessage(message: unknown): void; close(): void }>;
