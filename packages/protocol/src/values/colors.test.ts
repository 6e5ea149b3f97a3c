import { describe, expect, it } from 'vitest';
import { colorScheme, contrast, parseColor } from './colors.ts';

describe('a colour', () => {
  it.each([
    ['#A11D4A', '#a11d4a'],
    [' #f0a ', '#ff00aa'],
  ])('%s is read as %s', (text, value) => expect(parseColor(text)).toEqual({ ok: true, value }));

  it.each(['red', '#12345', '#1234567', 'a11d4a', '#ggg', 'rgb(1,2,3)', '#fff;x'])('%s is none', (text) =>
    expect(parseColor(text).ok).toBe(false),
  );
});

it('contrast is that of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

it.each(['#ffffff', '#000000', '#ffd400', '#a11d4a', '#00ff00', '#0000ff', '#777777', '#7f7f00', '#ff9dbb'])(
  'text in and on %s is readable everywhere',
  (color) => {
    const { textColor, lightAccent, darkAccent } = colorScheme(color);
    expect(contrast(color, textColor)).toBeGreaterThanOrEqual(4.5);
    for (const ground of ['#ffffff', '#fbf7f1']) expect(contrast(lightAccent, ground)).toBeGreaterThanOrEqual(4.5);
    for (const ground of ['#16130f', '#221d17']) expect(contrast(darkAccent, ground)).toBeGreaterThanOrEqual(4.5);
  },
);

it('a colour that is readable as it is stays', () => {
  expect(colorScheme('#a11d4a').lightAccent).toBe('#a11d4a');
  expect(colorScheme('#ff9dbb').darkAccent).toBe('#ff9dbb');
});
