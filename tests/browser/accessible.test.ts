import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriers } from './support/accessible.ts';
import { BROWSER_LIMIT_MS, closeContexts, openChromium } from './support/chromium.ts';

let page: Page;
beforeAll(async () => {
  const browser = await openChromium();
  page = await (await browser.newContext()).newPage();
}, BROWSER_LIMIT_MS);
afterAll(() => closeContexts(page?.context().browser() ?? undefined));

const rules = ['color-contrast'];
const show = (text: string, css: string) =>
  page.setContent(`<!doctype html><html lang="en"><title>Test</title><style>${css}</style>
    <main><h1>Colours</h1><p class="text"><span>${text}</span></p></main></html>`);

describe('the contrast of a text', () => {
  const good = 'p { color: #222; background: #fff }';

  it('is measured again with other colours of its own or of what it stands on, also in a later page', async () => {
    await show('Grey on white', good);
    expect(await barriers(page, rules)).toEqual([]);
    await show('Grey on white', 'p { color: #bbb; background: #fff }');
    expect(await barriers(page, rules)).toEqual(['color-contrast: <span>Grey on white</span>']);
    await show('Grey on grey', 'p { color: #222; background: #333 }');
    expect(await barriers(page, rules)).toEqual(['color-contrast: <span>Grey on grey</span>']);
    await show('Grey on white', `${good} main { opacity: 0.3 }`);
    expect(await barriers(page, rules)).not.toEqual([]);
  });

  it('is measured again after a change in the same page, and found each time', async () => {
    await show('Grey on white', good);
    expect(await barriers(page, rules)).toEqual([]);
    await page.evaluate("document.querySelector('p').style.color = '#ccc'");
    expect(await barriers(page, rules)).toHaveLength(1);
    expect(await barriers(page, rules)).toHaveLength(1);
  });

  it('is measured once it can be seen', async () => {
    await show('Hidden at first', 'p { color: #ccc; background: #fff; visibility: hidden }');
    expect(await barriers(page, rules)).toEqual([]);
    await page.evaluate("document.querySelector('p').style.visibility = 'visible'");
    expect(await barriers(page, rules)).toHaveLength(1);
  });

  it('is not measured a second time for the same look', async () => {
    await show('Grey on white', 'p { color: #123456; background: #fff }');
    expect(await barriers(page, rules)).toEqual([]);
    expect(await page.evaluate("runAxe(['color-contrast'])")).toEqual({ found: [], added: [] });
  });

  it('on a gradient cannot be measured and is tried once, and measured where the gradient is gone', async () => {
    const stripes = 'p { color: #ccc; background: linear-gradient(#fff, #eee) }';
    await show('Grey on stripes', stripes);
    expect(await barriers(page, rules)).toEqual([]);
    expect(await page.evaluate("runAxe(['color-contrast'])")).toEqual({ found: [], added: [] });
    await show('Grey on white again', 'p { color: #ccc; background: #fff }');
    expect(await barriers(page, rules)).toEqual(['color-contrast: <span>Grey on white again</span>']);
    await show('Grey on white on stripes', `${stripes} span { background: #fff }`);
    expect(await barriers(page, rules)).toEqual(['color-contrast: <span>Grey on white on stripes</span>']);
  });

  it('is measured once neither it nor what it is in is clipped', async () => {
    await show(
      'Clipped at first',
      'p { clip-path: inset(50%) } span { color: #ccc; background: #fff; clip-path: inset(50%) }',
    );
    expect(await barriers(page, rules)).toEqual([]);
    await page.evaluate("document.querySelector('span').style.clipPath = 'none'");
    expect(await barriers(page, rules)).toEqual([]);
    await page.evaluate("document.querySelector('p').style.clipPath = 'none'");
    expect(await barriers(page, rules)).toHaveLength(1);
  });
});
