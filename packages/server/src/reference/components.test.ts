import { describe, expect, it } from 'vitest';
import { readPage } from '../../testing/reference-page.ts';
import { inline, paragraphs } from './components.ts';

describe('markdown', () => {
  it('knows code, bold and paragraphs', () => {
    expect(paragraphs('**Not yet:** see `a_b`.\n\n\nMore').text).toBe(
      '<p><strong>Not yet:</strong> see <code>a_b</code>.</p>\n<p>More</p>\n',
    );
    expect(paragraphs('').text).toBe('');
  });

  it('leaves every other mark as text, and escapes inside marks', () => {
    expect(inline('[a](javascript:x) # * `open **<b>**').text).toBe(
      '[a](javascript:x) # * `open <strong>&lt;b&gt;</strong>',
    );
    expect(inline('`<script>`').text).toBe('<code>&lt;script&gt;</code>');
  });
});

describe('the check of well-formedness', () => {
  it.each([
    ['a tag that is never closed', '<p><b></p>'],
    ['a tag that was never opened', '<p></p></p>'],
    ['a tag left open at the end', '<div><p></p>'],
    ['an attribute without quotes', '<p id=x></p>'],
    ['a bare bracket', '<p>1 < 2</p>'],
  ])('refuses %s', (_, markup) => {
    expect(() => readPage(markup)).toThrow();
  });
});
