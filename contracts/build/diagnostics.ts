import type { Bundle } from './bundle.ts';
import { shown } from './places.ts';

const PLACE = /^ --> lib\.cairo:(\d+):(\d+)/m;

/** What the compiler says, with the file and line that the reader has in place of the bundle's. */
export function readable(diagnostics: readonly string[], bundle: Bundle): string[] {
  return diagnostics.map((text) =>
    text.replace(PLACE, (whole, line: string, column: string) => {
      const at = bundle[Number(line) - 1];
      return at ? ` --> ${shown(at.file)}:${at.line}:${column}` : whole;
    }),
  );
}
