const DAY_MS = 86_400_000;

/** `2026-07-17` if there is such a day, else undefined. */
export function calendarDay(year: string, month: string, day: string): string | undefined {
  const text = `${year}-${month}-${day}`;
  const start = Date.parse(`${text}T00:00:00Z`);
  // Some engines roll the 31st of February over into March.
  return Number.isNaN(start) || new Date(start).toISOString().slice(0, 10) !== text ? undefined : text;
}

/** Reads `2026-07-17`. */
export function parseIsoDay(text: string): string | undefined {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  return calendarDay(year, month, day);
}

/** Whole days from the beginning of `day` in UTC to `now`; negative when the day is still to come. */
export function daysSince(day: string, now: number): number {
  return Math.floor((now - Date.parse(`${day}T00:00:00Z`)) / DAY_MS);
}
