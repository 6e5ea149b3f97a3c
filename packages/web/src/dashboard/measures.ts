import { type Language, localeOf } from '../ui/language.ts';

const BYTES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
const STEP = 1_000;

/** Such as `12.4 GB`. */
export function formatBytes(bytes: number, language: Language): string {
  const power = Math.min(BYTES.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return new Intl.NumberFormat(localeOf(language), {
    style: 'unit',
    unit: BYTES[power] ?? 'byte',
    maximumFractionDigits: power > 2 ? 1 : 0,
  }).format(bytes / STEP ** power);
}

const LENGTHS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** In the largest unit that fits, such as `5 min`. */
export function formatSeconds(seconds: number, language: Language): string {
  const [unit, size] = LENGTHS.find(([, length]) => seconds >= length) ?? (['second', 1] as const);
  return new Intl.NumberFormat(localeOf(language), {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: 0,
  }).format(Math.floor(seconds / size));
}

export const formatCount = (count: number, language: Language): string =>
  new Intl.NumberFormat(localeOf(language)).format(count);

/** How often pages about the deployment read again. */
export const WATCH_MS = 5_000;
