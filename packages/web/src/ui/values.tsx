import { Check, Copy } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { type Language, localeOf, useLanguage, useWords } from './language.ts';
import { Link } from './link.tsx';
import { words } from './words.ts';

const COPIED_MS = 1_500;

function useCopy(value: string): [copied: boolean, copy: () => void] {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = () => {
    void copyText(value).then((worked) => {
      if (!worked) return;
      setCopied(true);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setCopied(false), COPIED_MS);
    });
  };
  return [copied, copy];
}

/** Pages without TLS have no clipboard: they copy a selection. */
async function copyText(value: string): Promise<boolean> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(value).then(
      () => true,
      () => false,
    );
  }
  const area = document.createElement('textarea');
  area.value = value;
  document.body.append(area);
  area.select();
  const worked = document.execCommand('copy');
  area.remove();
  return worked;
}

export interface CopyButtonProps {
  value: string;
  /** What is copied, for screen readers; shown as the button's text with `text`. */
  label?: string;
  /** Shows a text instead of the icon alone. */
  text?: boolean;
}

export function CopyButton({ value, label, text: hasText = false }: CopyButtonProps) {
  const text = useWords(words);
  const [copied, copy] = useCopy(value);
  const name = label ? text.copyOf(label) : text.copy;
  if (hasText) {
    return (
      <Button icon={copied ? Check : Copy} onClick={copy}>
        {copied ? text.copied : name}
      </Button>
    );
  }
  return (
    <button type="button" className="copy" aria-label={name} title={copied ? text.copied : name} onClick={copy}>
      {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      <span className="hidden" aria-live="polite">
        {copied ? text.copied : ''}
      </span>
    </button>
  );
}

export interface HashProps {
  value: string;
  /** What it is, for the copy button's name. */
  label?: string;
  /** A path of the application, or another address. */
  to?: string | undefined;
  href?: string | undefined;
  /** False inside links. */
  copy?: boolean;
  /** Shown whole. */
  full?: boolean;
}

const HEAD = 8;
const TAIL = 6;

/** A hash, address or id: shortened, copied whole. */
export function Hash({ value, label, to, href, copy = true, full = false }: HashProps) {
  const isLong = !full && value.length > HEAD + TAIL + 2;
  const shown = isLong ? `${value.slice(0, HEAD)}…${value.slice(-TAIL)}` : value;
  const inside = (
    <span className={full ? 'mono hash-full' : 'mono'} title={value}>
      {shown}
    </span>
  );
  return (
    <span className="hash">
      {to !== undefined ? <Link to={to}>{inside}</Link> : href !== undefined ? <a href={href}>{inside}</a> : inside}
      {copy && <CopyButton value={value} {...(label && { label })} />}
    </span>
  );
}

export interface MoneyProps {
  /** A decimal text or a number of the interface, such as `12.5`. */
  amount: string | number;
  /** `USD` unless told; a token's name is shown after the amount. */
  unit?: string;
  /** With a plus before amounts above zero. */
  signed?: boolean;
  places?: Places;
}

/** The least and the most digits after the point. All of them unless told. */
export type Places = readonly [least: number, most: number];

/** Texts are formatted as texts, so that no digit is lost. The tooltip has those that `places` leaves out. */
export function Money({ amount, unit = 'USD', signed = false, places }: MoneyProps) {
  const language = useLanguage();
  const exact = formatMoney(String(amount), unit, language, { signed });
  const shown = places ? formatMoney(String(amount), unit, language, { signed, places }) : exact;
  return (
    <span className="number money" title={shown === exact ? undefined : exact}>
      {shown}
    </span>
  );
}

export function formatMoney(
  amount: string,
  unit: string,
  language: Language,
  { signed = false, places }: { readonly signed?: boolean; readonly places?: Places } = {},
): string {
  const [least, most] = places ?? [unit === 'USD' || amount.includes('.') ? 2 : 0, unit === 'USD' ? 6 : 18];
  const format = new Intl.NumberFormat(localeOf(language), {
    minimumFractionDigits: least,
    maximumFractionDigits: most,
    signDisplay: signed ? 'exceptZero' : 'auto',
  });
  const text = format.format(amount as `${number}`);
  return unit === 'USD' ? text.replace(/^([+-]?)/, '$1$') : `${text}\u00a0${unit}`;
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const RELATIVE_LIMIT_MS = 7 * 86_400_000;
const REFRESH_MS = 30_000;

export interface TimeProps {
  /** An ISO date-time, or null for none. */
  value: string | null | undefined;
  /** The date and time in words instead of "5 minutes ago". */
  exact?: boolean;
  /** Shown without a value. */
  none?: ReactNode;
}

export function Time({ value, exact = false, none = '–' }: TimeProps) {
  const language = useLanguage();
  const now = useNow(!exact && value != null);
  if (value == null) return <>{none}</>;
  const moment = new Date(value);
  const title = formatTime(moment, language);
  return (
    <time dateTime={value} title={title} className="number">
      {exact ? title : formatRelative(moment, now, language)}
    </time>
  );
}

function useNow(isNeeded: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isNeeded) return undefined;
    const timer = setInterval(() => setNow(Date.now()), REFRESH_MS);
    return () => clearInterval(timer);
  }, [isNeeded]);
  return now;
}

export const formatTime = (moment: Date, language: Language): string =>
  new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium', timeStyle: 'medium' }).format(moment);

export function formatRelative(moment: Date, now: number, language: Language): string {
  const distance = moment.getTime() - now;
  if (Math.abs(distance) > RELATIVE_LIMIT_MS) {
    return new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium' }).format(moment);
  }
  const format = new Intl.RelativeTimeFormat(localeOf(language), { numeric: 'auto' });
  const [unit, size] = UNITS.find(([, ms]) => Math.abs(distance) >= ms) ?? ['second', 1_000];
  return unit === 'second' ? format.format(0, 'second') : format.format(Math.trunc(distance / size), unit);
}
