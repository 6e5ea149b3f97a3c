import { PATTERN_LENGTH, REFERENCE_LENGTH } from '@svc/protocol';
import { RE2JS } from 're2js';

/** Time and memory of a match grow with the pattern's program; this much takes some milliseconds, a hundred times that blocks others. */
const MAX_PROGRAM_SIZE = 2_000;
/** Compiled patterns are kept, because a catalogue's are used again and again, up to about a hundred megabytes. */
const MAX_KEPT_SIZE = 250_000;
const compiled = new Map<string, RE2JS>();
let keptSize = 0;

/** Compiles a pattern that came from data, or throws an error that says what is wrong with it. */
export function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known) return known;
  if (pattern.length > PATTERN_LENGTH) throw new Error(`the pattern has more than ${PATTERN_LENGTH} characters`);
  const fresh = RE2JS.compile(pattern);
  const size = fresh.programSize();
  if (size > MAX_PROGRAM_SIZE) throw new Error('the pattern repeats too much');
  if (keptSize + size > MAX_KEPT_SIZE) {
    compiled.clear();
    keptSize = 0;
  }
  compiled.set(pattern, fresh);
  keptSize += size;
  return fresh;
}

/** Tests in time linear in the input, whatever the pattern. Longer input than any reference never matches. */
export function matchesPattern(pattern: string, input: string): boolean {
  return input.length <= REFERENCE_LENGTH && compilePattern(pattern).matcher(input).find();
}
