/** The Markdown of our own guides as HTML: headings, paragraphs, lists, tables, code, links. Anything else stays text. */
export interface GuideSection {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface RenderedGuide {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly GuideSection[];
}

export interface RenderOptions {
  /** Answers the address of a link, or undefined where it leads nowhere on this site. */
  readonly link: (target: string) => string | undefined;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** As GitHub makes them, so that links between the files work in both places. */
export const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

export function renderMarkdown(markdown: string, { link }: RenderOptions): RenderedGuide {
  const lines = markdown.replaceAll('\r', '').split('\n');
  const ids = new Map<string, number>();
  const sections: { id: string; title: string; text: string }[] = [];
  const out: string[] = [];
  let title = '';
  const inline = (text: string) => renderInline(text, link);
  const tell = (text: string) => {
    const last = sections.at(-1);
    if (last) last.text += `${withoutListMarks(text)} `;
  };

  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const heading = /^(#{1,4}) (.+)$/.exec(line);
    if (line.startsWith('```')) {
      const end = endOfCode(lines, at);
      const code = lines.slice(at + 1, end).join('\n');
      const language = line.slice(3).trim().split(' ', 1)[0] ?? '';
      out.push(
        `<figure class="code"><figcaption>${escapeText(language || 'text')}</figcaption><pre><code>${escapeText(code)}</code></pre></figure>`,
      );
      at = end + 1;
    } else if (heading) {
      const [, marks = '', text = ''] = heading;
      if (marks.length === 1) title = plain(text);
      const slug = slugOf(plain(text));
      const before = ids.get(slug) ?? 0;
      ids.set(slug, before + 1);
      const id = before === 0 ? slug : `${slug}-${before}`;
      sections.push({ id, title: plain(text), text: '' });
      const level = marks.length;
      const content = level === 1 ? inline(text) : `<a href="#${escapeText(id)}">${inline(text)}</a>`;
      out.push(`<h${level} id="${escapeText(id)}">${content}</h${level}>`);
      at++;
    } else if (line.startsWith('|') && /^\|[\s:|-]+\|$/.test(lines[at + 1] ?? '')) {
      const end = endWhere(lines, at, (text) => !text.startsWith('|'));
      const rows = [line, ...lines.slice(at + 2, end)].map(cellsOf);
      out.push(tableOf(rows, inline, title));
      for (const row of rows) tell(row.join(' '));
      at = end;
    } else if (/^(- |\d+\. )/.test(line)) {
      const end = endWhere(lines, at, (text) => !/^(- |\d+\. |\s+\S)/.test(text));
      out.push(listOf(lines.slice(at, end), inline));
      tell(lines.slice(at, end).join(' '));
      at = end;
    } else if (line.trim() === '') at++;
    else {
      const end = endWhere(lines, at + 1, (text) => text.trim() === '' || /^(#{1,4} |```|\||- |\d+\. )/.test(text));
      const text = lines.slice(at, end).join(' ');
      out.push(`<p>${inline(text)}</p>`);
      tell(text);
      at = end;
    }
  }
  return { title, html: out.join('\n'), sections };
}

function endOfCode(lines: readonly string[], start: number): number {
  const end = lines.findIndex((line, index) => index > start && line.startsWith('```'));
  return end < 0 ? lines.length : end;
}

function endWhere(lines: readonly string[], start: number, isOver: (line: string) => boolean): number {
  const end = lines.findIndex((line, index) => index >= start && isOver(line));
  return end < 0 ? lines.length : end;
}

const cellsOf = (row: string): string[] =>
  row
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

function tableOf([head = [], ...rows]: readonly string[][], inline: (text: string) => string, label: string): string {
  const header = head.map((cell) => `<th scope="col">${inline(cell)}</th>`).join('');
  const body = rows
    .map(
      ([first = '', ...cells]) =>
        `<tr><th scope="row">${inline(first)}</th>${cells.map((cell) => `<td>${inline(cell)}</td>`).join('')}</tr>`,
    )
    .join('\n');
  return `<div class="scroll"><table aria-label="${escapeText(label)}"><thead><tr>${header}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}

/** Two levels: an indented item belongs to the one above it. */
function listOf(lines: readonly string[], inline: (text: string) => string): string {
  const name = /^\d/.test(lines[0] ?? '') ? 'ol' : 'ul';
  const items: { text: string; inner: string[] }[] = [];
  for (const line of lines) {
    const top = /^(?:- |\d+\. )(.*)$/.exec(line);
    const inner = /^\s+(?:- |\d+\. )(.*)$/.exec(line);
    const last = items.at(-1);
    if (top) items.push({ text: top[1] ?? '', inner: [] });
    else if (inner) last?.inner.push(inner[1] ?? '');
    else if (last && last.inner.length > 0) last.inner.push(`${last.inner.pop()} ${line.trim()}`);
    else if (last) last.text += ` ${line.trim()}`;
  }
  const shown = items.map(({ text, inner }) => {
    const below = inner.length > 0 ? `<ul>${inner.map((item) => `<li>${inline(item)}</li>`).join('')}</ul>` : '';
    return `<li>${inline(text)}${below}</li>`;
  });
  return `<${name}>${shown.join('\n')}</${name}>`;
}

const MARKS = /(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]*\]\([^)\s]+\)|<https?:[^>\s]+>)/;

function renderInline(text: string, link: RenderOptions['link']): string {
  return text
    .split(MARKS)
    .map((piece) => {
      if (/^`[^`]+`$/.test(piece)) return `<code>${escapeText(piece.slice(1, -1))}</code>`;
      if (/^\*\*.+\*\*$/.test(piece)) return `<strong>${renderInline(piece.slice(2, -2), link)}</strong>`;
      if (/^\*[^*]+\*$/.test(piece)) return `<em>${renderInline(piece.slice(1, -1), link)}</em>`;
      const linked = /^\[(.*)\]\((.*)\)$/.exec(piece);
      if (linked) return linkTo(renderInline(linked[1] ?? '', link), link(linked[2] ?? ''));
      const bare = /^<(https?:.+)>$/.exec(piece);
      return bare ? linkTo(escapeText(bare[1] ?? ''), link(bare[1] ?? '')) : escapeText(piece);
    })
    .join('');
}

const linkTo = (content: string, target: string | undefined): string =>
  target === undefined ? content : `<a href="${escapeText(target)}">${content}</a>`;

/** Without its marks. */
const plain = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
const withoutListMarks = (text: string): string => plain(text).replace(/^\s*(?:- |\d+\. )/gm, '');
