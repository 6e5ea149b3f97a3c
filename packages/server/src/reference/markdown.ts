import { type Html, html } from './html.ts';

const CODE_OR_BOLD = /(`[^`]+`|\*\*[^*]+\*\*)/;

/** The three marks that descriptions use: `code`, **bold** and, in `paragraphs`, an empty line. The rest is text. */
export function inline(text: string): Html {
  return html`${text.split(CODE_OR_BOLD).map((piece) => {
    if (/^`.+`$/s.test(piece)) return html`<code>${piece.slice(1, -1)}</code>`;
    if (/^\*\*.+\*\*$/s.test(piece)) return html`<strong>${piece.slice(2, -2)}</strong>`;
    return piece;
  })}`;
}

export function paragraphs(text: string): Html {
  const pieces = text.split(/\n{2,}/).filter((piece) => piece.trim() !== '');
  return html`${pieces.map((piece) => html`<p>${inline(piece)}</p>\n`)}`;
}
