/** What the process of a compiler is asked, once. */
export type CompilerTask =
  | { readonly kind: 'compile'; readonly source: string }
  | { readonly kind: 'test'; readonly source: string; readonly filter: string };

/** What it answers before it ends. */
export interface CompilerAnswer {
  /** What the compiler returned, or how it broke down. */
  readonly output: string;
  readonly broken: boolean;
  /** Texts that the compiler wrote to a stream that does not exist in WebAssembly, found in its memory. */
  readonly diagnostics: readonly string[];
  readonly reports: readonly string[];
  readonly peakMb: number;
}
