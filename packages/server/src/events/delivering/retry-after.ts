const MAX_LENGTH = 64;

/** What a Retry-After header asks for, in seconds or as a date; 0 for what cannot be read. */
export function readRetryAfter(text: string | undefined, nowMs: number): number {
  const value = (text ?? '').trim();
  if (value === '' || value.length > MAX_LENGTH) return 0;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  // Dates of HTTP name their day and mean GMT, said or not; what else Date.parse would take is no Retry-After.
  const isDate = /^[A-Z][a-z]{2,8},? /.test(value);
  const at = isDate ? Date.parse(value.endsWith(' GMT') ? value : `${value} GMT`) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs);
}
