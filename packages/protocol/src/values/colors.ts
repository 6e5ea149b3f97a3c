import { type Parsed, unparsed } from './parsed.ts';

/** `#` and six lowercase hexadecimal digits. */
export type Color = string;

/** WCAG 2.2 for text. */
const TEXT_CONTRAST = 4.5;
/** The darkest ground of light pages and the lightest of dark ones, with a margin. */
const LIGHT_GROUND = '#f3ede4';
const DARK_GROUND = '#2a2420';

export function parseColor(text: string): Parsed<Color> {
  const color = text.trim().toLowerCase();
  if (/^#[0-9a-f]{6}$/.test(color)) return { ok: true, value: color };
  if (/^#[0-9a-f]{3}$/.test(color)) return { ok: true, value: color.replace(/[0-9a-f]/g, '$&$&') };
  return unparsed('must be a colour such as #a11d4a');
}

export interface ColorScheme {
  readonly color: Color;
  /** Black or white, the more readable of them on the colour. */
  readonly textColor: Color;
  /** The colour, darker or lighter where needed, as text on light and on dark pages. */
  readonly lightAccent: Color;
  readonly darkAccent: Color;
}

export function colorScheme(color: Color): ColorScheme {
  return {
    color,
    textColor: contrast(color, '#000000') >= contrast(color, '#ffffff') ? '#000000' : '#ffffff',
    lightAccent: adapt(color, '#000000', LIGHT_GROUND),
    darkAccent: adapt(color, '#ffffff', DARK_GROUND),
  };
}

const STEPS = 20;

function adapt(color: Color, towards: Color, ground: Color): Color {
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(color, towards, step / STEPS);
    if (contrast(mixed, ground) >= TEXT_CONTRAST) return mixed;
  }
  return towards;
}

function mix(one: Color, other: Color, share: number): Color {
  const others = channels(other);
  const mixed = channels(one).map((value, index) => Math.round(value + ((others[index] ?? 0) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** From 1 to 21, as WCAG defines it. */
export function contrast(one: Color, other: Color): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const channels = (color: Color): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
