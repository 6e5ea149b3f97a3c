import { describe, expect, it } from 'vitest';
import { breakable, html, join } from './text.ts';

describe('html', () => {
  it('escapes what could end a text or an attribute', () => {
    expect(html`<p title="${`"'`}">${'<&>'}</p>`.text).toBe('<p title="&quot;&#39;">&lt;&amp;&gt;</p>');
  });

  it('keeps markup, joins lists and leaves nothing for what is missing', () => {
    expect(html`${html`<b>1</b>`}${[1, ['<', false], undefined]}${false}${0}`.text).toBe('<b>1</b>1&lt;0');
    expect(join(['a', html`<b>b</b>`, '&'], ', ').text).toBe('a, <b>b</b>, &amp;');
  });

  it('lets names break between their words', () => {
    expect(breakable('maxRedeemsPerUser').text).toBe('max<wbr>Redeems<wbr>Per<wbr>User');
    expect(breakable('gift_<_x').text).toBe('gift_<wbr>&lt;_<wbr>x');
  });
});
