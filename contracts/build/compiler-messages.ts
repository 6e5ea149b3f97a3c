export type CompilerTask =
  | { readonly kind: 'compile'; readonly source: string }
  | { readonly kind: 'test'; readonly source: string; readonly filter: string };

export interface CompilerAnswer {
  /** The compiler's result, or its error. */
  readonly output: string;
  readonly broken: boolean;
  /** Found in the compiler's memory: WebAssembly has no stream to write them to. */
  readonly diagnostics: readonly string[];
  readonly reports: readonly string[];
  readonly peakMb: number;
}
