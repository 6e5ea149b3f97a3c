import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Looks whose contrast axe has measured and found good, in any page of this worker. */
const measured = new Set<string>();

/**
 * Contrast is most of axe's work, and its outcome depends on how an element and those around it look alone: on their colours,
 * sizes and classes, and on the width of the page. axe measures every look once; what it could not measure it tries again.
 */
const remember = (known: Iterable<string>) => `(() => {
  const PROPERTIES = ['color', 'background-color', 'background-image', 'opacity', 'filter', 'mix-blend-mode', 'position',
    'z-index', 'font-size', 'font-weight', 'text-shadow', 'display'];
  const measured = new Set(${JSON.stringify([...known])});
  let looks, clipped, added;
  const remembered = (map, key, value) => { map.set(key, value); return value; };
  const hash = (text) => {
    let [one, two] = [0xdeadbeef, 0x41c6ce57];
    for (let at = 0; at < text.length; at++) {
      one = Math.imul(one ^ text.charCodeAt(at), 2654435761);
      two = Math.imul(two ^ text.charCodeAt(at), 1597334677);
    }
    one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
    two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
    return (two >>> 0).toString(36) + '.' + (one >>> 0).toString(36);
  };
  const lookOf = (element) => {
    const known = looks.get(element);
    if (known !== undefined) return known;
    const style = getComputedStyle(element);
    const around = element.parentElement ? lookOf(element.parentElement) : innerWidth;
    const own = [element.localName, element.getAttribute('class'), element.getAttribute('style')];
    const look = hash([around, ...own, ...PROPERTIES.map((name) => style.getPropertyValue(name))].join('|'));
    return remembered(looks, element, look);
  };
  // axe takes what is in such an element for invisible.
  const isClipped = (element) => element !== null && (clipped.get(element) ?? remembered(clipped, element,
    getComputedStyle(element).clipPath === 'inset(50%)' || isClipped(element.parentElement)));
  // Where axe looks for text.
  const hasText = (element) => (element.matches('input, select, textarea') ||
    [...element.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== '')) &&
    !isClipped(element);
  const isOnGradient = (element) => element !== null &&
    (getComputedStyle(element).backgroundImage.includes('gradient') || isOnGradient(element.parentElement));
  const rule = axe._audit.rules.find(({ id }) => id === 'color-contrast');
  const { matches } = rule;
  rule.matches = function (element, ...rest) {
    return hasText(element) && !measured.has(lookOf(element)) && matches.call(this, element, ...rest);
  };
  const check = axe._audit.checks['color-contrast'];
  const { evaluate } = check;
  check.evaluate = function (element, ...rest) {
    if (added.has(lookOf(element))) return true;
    let data;
    const self = Object.assign(Object.create(this), { data: (value) => { data = value; return this.data(value); } });
    const result = evaluate.call(self, element, ...rest);
    const isGood = result === true && data?.contrastRatio > 1;
    // axe never measures text on a gradient, and this one belongs to the look.
    const isUnmeasurable = result === undefined && data?.messageKey === 'bgGradient' && isOnGradient(element);
    if (isGood || isUnmeasurable) added.add(lookOf(element));
    return result;
  };
  const isKnown = () => [...document.querySelectorAll('body, body *')].every((element) =>
    !hasText(element) || measured.has(lookOf(element)) || !element.checkVisibility());
  globalThis.runAxe = async (rules) => {
    [looks, clipped, added] = [new Map(), new Map(), new Set()];
    if (String(rules) === 'color-contrast' && isKnown()) return { found: [], added: [] };
    const { violations } = await axe.run(
      { exclude: [['[data-base-ui-focus-guard]']] },
      { resultTypes: ['violations'], preload: false, ...(rules && { runOnly: rules }) },
    );
    for (const look of added) measured.add(look);
    // Focus guards and the place of popups are Base UI's; both are known and harmless.
    const found = violations.flatMap(({ id, nodes }) => nodes
      .filter(({ target }) => id !== 'region' || !document.querySelector(String(target[0]))?.closest('[data-base-ui-portal]'))
      .map(({ html }) => id + ': ' + html));
    return { found, added: [...added] };
  };
})()`;

/** Colours in a transition have another contrast than those before and after it. */
const SETTLED = `new Promise(requestAnimationFrame).then(() => Promise.allSettled(
  document.getAnimations().filter((each) => each instanceof CSSTransition).map(({ finished }) => finished)))`;

const LOOKS = 3;

/** What axe finds. A toast that fades while it looks is gone at the next look; what is wrong stays. */
export async function barriers(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  if (!(await page.evaluate("'runAxe' in window"))) {
    // Apart from the looks: V8 has compiled the same text before.
    await page.evaluate(await axe);
    await page.evaluate(remember(measured));
  }
  for (let look = 1; ; look++) {
    const script = `${SETTLED}.then(() => runAxe(${rules ? JSON.stringify(rules) : ''}))`;
    const { found, added } = (await page.evaluate(script)) as Record<'found' | 'added', readonly string[]>;
    for (const each of added) measured.add(each);
    if (found.length === 0 || look === LOOKS) return found;
  }
}

/** axe finds nothing, and nothing is wider than the screen. With `SVC_SCREENSHOTS=folder` it saves a picture. */
export async function expectAccessible(page: Page, name?: string, rules?: readonly string[]): Promise<void> {
  // Before its first heading a page is still loading.
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await picture(page, name);
  expect(await barriers(page, rules)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
}

/**
 * In both colours, on a desktop and on a phone, without loading the page again. Names, roles and order depend on the width
 * alone, so the second colour of a width is checked for contrast.
 */
export async function expectAccessibleEverywhere(page: Page, name?: string): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize(desktop);
  await page.emulateMedia({ colorScheme: 'light' });
  await expectAccessible(page, name);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page, name, ['color-contrast']);
  await page.setViewportSize(phone);
  await expectAccessible(page, name, ['color-contrast']);
  await page.emulateMedia({ colorScheme: 'light' });
  await expectAccessible(page, name);
  await page.setViewportSize(before ?? desktop);
}

async function picture(page: Page, name?: string): Promise<void> {
  const folder = process.env.SVC_SCREENSHOTS;
  if (!folder) return;
  const isDark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
  const place = new URL(page.url()).pathname.replace(/^\/dashboard\/?/, '').replaceAll('/', '-') || 'overview';
  await mkdir(folder, { recursive: true });
  const file = `${name ?? place}-${page.viewportSize()?.width}-${isDark ? 'dark' : 'light'}.png`;
  await page.screenshot({ path: path.join(folder, file), animations: 'disabled', fullPage: true });
}
