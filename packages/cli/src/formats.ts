import { formatTokenAmount } from '@svc/protocol';
import { usage } from './failure.ts';

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
/** A century, as the sandbox. */
const MAX_SECONDS = 100 * 366 * 86_400;

/** `90`, `90s`, `15m`, `6h`, `2d`, `1w` and sums of them, such as `1d12h`. */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d{1,10})([smhdw]?)/g)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === text;
  const seconds = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitSeconds[unit || 's'] ?? 0), 0);
  if (isWhole && (parts.length === 1 || parts.every(([, , unit]) => unit)) && seconds <= MAX_SECONDS) return seconds;
  throw usage(`${text} is no duration. Write 90s, 15m, 6h, 2d, 1w or a sum such as 1d12h.`);
}

/** The two largest units: `1 d 2 h`, `3 min 5 s`. */
export function formatDuration(seconds: number): string {
  const sign = seconds < 0 ? '-' : '';
  let rest = Math.abs(Math.round(seconds));
  const parts: string[] = [];
  for (const [name, size] of [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 && parts.length < 2) parts.push(`${count} ${name}`);
  }
  return sign + (parts.join(' ') || '0 s');
}

const settingKinds = {
  notificationEmail: 'text',
  jwksUrl: 'text',
  jwtIssuer: 'text',
  jwtAudience: 'text',
  jwtUserClaim: 'text',
  giftsNeedSecretKey: 'boolean',
  publicKeyGiftsDailyUsd: 'number',
  recipientWallets: 'boolean',
  recipientAppUrl: 'text',
} as const;
export type SettingName = keyof typeof settingKinds;
export const settingNames = Object.keys(settingKinds) as SettingName[];

/** `name=value`; an empty value clears the setting. */
export function parseSetting(text: string): [SettingName, string | number | boolean | null] {
  const [, word, value = ''] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? [];
  const name = settingNames.find((known) => known === word);
  if (!word) throw usage(`${text} is no change of a setting. Write name=value, or name= to clear it.`);
  if (!name) throw usage(`${word} is not a setting. There are ${settingNames.join(', ')}.`);
  if (value === '') return [name, null];
  const kind = settingKinds[name];
  if (kind === 'text') return [name, value];
  if (kind === 'boolean' && (value === 'true' || value === 'false')) return [name, value === 'true'];
  if (kind === 'number' && /^\d+(\.\d+)?$/.test(value)) return [name, Number(value)];
  throw usage(`${name} must be ${kind === 'boolean' ? 'true or false' : 'a number'}.`);
}

interface KnownToken {
  readonly chain: string;
  readonly token: string;
  readonly decimals: number;
}

/** `2.5 USDC` of a raw amount; the raw amount where the token is not known. */
export function showAmount(
  { amount, token, chain }: { amount?: string | undefined; token?: string | undefined; chain: string },
  tokens: readonly KnownToken[],
): string {
  if (amount === undefined) return '';
  const known = tokens.find((one) => one.chain === chain && one.token === token);
  return known && /^\d+$/.test(amount)
    ? `${formatTokenAmount(BigInt(amount), known.decimals)} ${token}`
    : `${amount} ${token ?? ''}`.trim();
}
