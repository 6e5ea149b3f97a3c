import { describe, expect, it } from 'vitest';
import { dark, light, type Palette } from './style.ts';

/** WCAG 2: AA asks for this much of text, and for less of what only has to be seen. */
const TEXT_CONTRAST = 4.5;
const SHAPE_CONTRAST = 3;

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

const schemes: [string, Palette][] = [
  ['light', light],
  ['dark', dark],
];

describe.each(schemes)('the %s colours', (_, palette) => {
  it.each(['ink', 'muted', 'link', 'string', 'number'] as const)('let %s be read on the page and on a panel', (ink) => {
    expect(contrast(palette[ink], palette.page)).toBeGreaterThanOrEqual(TEXT_CONTRAST);
    expect(contrast(palette[ink], palette.panel)).toBeGreaterThanOrEqual(TEXT_CONTRAST);
  });

  it.each(['get', 'post', 'patch', 'delete', 'planned'] as const)('let the badge %s be read', (badge) => {
    expect(contrast(palette[`${badge}Ink`], palette[badge])).toBeGreaterThanOrEqual(TEXT_CONTRAST);
  });

  it('let the text of a marked row and of a hovered entry be read', () => {
    expect(contrast(palette.muted, palette.get)).toBeGreaterThanOrEqual(TEXT_CONTRAST);
    expect(contrast(palette.muted, palette.line)).toBeGreaterThanOrEqual(TEXT_CONTRAST);
  });

  it('show the focus and the skip link', () => {
    expect(contrast(palette.focus, palette.page)).toBeGreaterThanOrEqual(SHAPE_CONTRAST);
    expect(contrast(palette.focus, palette.panel)).toBeGreaterThanOrEqual(SHAPE_CONTRAST);
    expect(contrast(palette.page, palette.link)).toBeGreaterThanOrEqual(TEXT_CONTRAST);
  });
});
