import { describe, expect, it } from 'vitest';
import { loadGuides } from '../../packages/web/build/guides.ts';
import { renderMarkdown, slugOf } from '../../packages/web/build/markdown.ts';

const render = (markdown: string) => renderMarkdown(markdown, { link: (target) => target }).html;

describe('Markdown of a guide', () => {
  it.each([
    ['# A `b` title', '<h1 id="a-b-title">A <code>b</code> title</h1>'],
    ['## 2. Deliver it', '<h2 id="2-deliver-it"><a href="#2-deliver-it">2. Deliver it</a></h2>'],
    ['## Deliver it', '<h2 id="deliver-it"><a href="#deliver-it">Deliver it</a></h2>'],
    ['one\ntwo **three**', '<p>one two <strong>three</strong></p>'],
    ['- a\n  more\n- b', '<ul><li>a more</li>\n<li>b</li></ul>'],
    ['1. a\n2. b', '<ol><li>a</li>\n<li>b</li></ol>'],
    ['[x](https://a.example)', '<p><a href="https://a.example">x</a></p>'],
    ['```sh\na < b\n```', '<figure class="code"><figcaption>sh</figcaption><pre><code>a &lt; b</code></pre></figure>'],
  ])('is HTML: %j', (markdown, expected) => {
    expect(render(markdown)).toBe(expected);
  });

  it('is a table with row headings', () => {
    expect(render('# T\n| a | b |\n|---|---|\n| 1 | `x` \\| y |')).toContain(
      '<tr><th scope="row">1</th><td><code>x</code> | y</td></tr>',
    );
  });

  it('stays text where it is not known, whatever it says', () => {
    const hostile = '<script>alert(1)</script> <img src=x onerror=alert(1)> "quoted"';
    for (const place of [
      hostile,
      `# ${hostile}`,
      `- ${hostile}`,
      `\`${hostile}\``,
      `| ${hostile} |\n|---|\n| ${hostile} |`,
    ]) {
      expect(render(place)).not.toMatch(/<script|<img/);
    }
  });

  it('has the anchors that GitHub makes', () => {
    expect([slugOf('What counts as received'), slugOf('Guía: código'), slugOf("A user's token")]).toEqual([
      'what-counts-as-received',
      'guía-código',
      'a-users-token',
    ]);
  });
});

describe('the guides', () => {
  it('are there, five of them in Spanish too, and link only to pages that exist', async () => {
    const guides = await loadGuides();
    expect(guides.filter(({ language }) => language === 'es')).toHaveLength(5);
    const paths = new Set(guides.map(({ path }) => path));
    for (const guide of guides) {
      expect(guide.title, guide.path).not.toBe('');
      expect(guide.other === undefined || paths.has(guide.other)).toBe(true);
      for (const [, href = ''] of guide.html.matchAll(/href="(?!https:)([^"]+)"/g)) {
        const { pathname, hash } = new URL(href, `http://docs/${guide.path}`);
        const target = guides.find(({ path }) => `/${path}` === pathname);
        const ids = target?.sections.map(({ id }) => id) ?? [];
        if (hash !== '') expect(ids, `${guide.path}: ${href}`).toContain(decodeURIComponent(hash.slice(1)));
        else expect(target, `${guide.path}: ${href}`).toBeDefined();
      }
    }
  });
});
