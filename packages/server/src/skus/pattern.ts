import { PATTERN_LENGTH, REFERENCE_LENGTH } from '@svc/protocol';
import { RE2JS } from 're2js';

/** Compiled patterns are kept: a catalogue has a few hundred, and each is used again and again. */
const MAX_COMPILED = 5_000;
const compiled = new Map<string, RE2JS>();

/** Compiles a pattern that came from data, or throws an error that says what is wrong with it. */
export function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known) return known;
  if (pattern.length > PATTERN_LENGTH) throw new Error(`the pattern has more than ${PATTERN_LENGTH} characters`);
  const fresh = RE2JS.compile(pattern);
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  compiled.set(pattern, fresh);
  return fresh;
}

/** Tests in time linear in the input, whatever the pattern. Longer input than any reference never matches. */
export function matchesPattern(pattern: string, input: string): boolean {
  return input.length <= REFERENCE_LENGTH && compilePattern(pattern).matcher(input).find();
}
