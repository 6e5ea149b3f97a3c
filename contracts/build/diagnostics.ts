import type { Bundle } from './bundle.ts';
import { shown } from './places.ts';

const PLACE = /^ --> lib\.cairo:(\d+):(\d+)/m;

/** Replaces positions in the bundle by the original file and line. */
export function readable(diagnostics: readonly string[], bundle: Bundle): string[] {
  return diagnostics.map((text) =>
    text.replace(PLACE, (whole, line: string, column: string) => {
      const at = bundle[Number(line) - 1];
      return at ? ` --> ${shown(at.file)}:${at.line}:${column}` : whole;
    }),
  );
}
