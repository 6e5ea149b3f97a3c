import { type Html, html } from './html.ts';

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*/g;

/** A command or a value in a box of its own, which scrolls sideways where it is too wide. */
export function codeBox(title: string, kind: 'curl' | 'json', content: Html): Html {
  return html`<figure class="code"><figcaption>${title}</figcaption><pre class="${kind}"><code>${content}</code></pre></figure>
`;
}

export const curlBox = (title: string, command: string): Html => codeBox(title, 'curl', html`${command}`);

export const jsonBox = (title: string, value: unknown): Html =>
  codeBox(title, 'json', highlight(JSON.stringify(value, null, 2)));

/** Names, texts and other values told apart, so that the eye finds its way. */
function highlight(json: string): Html {
  const pieces: Html[] = [];
  let end = 0;
  for (const match of json.matchAll(TOKEN)) {
    const [token, text, colon] = match;
    const kind = text === undefined ? 'number' : colon === undefined ? 'string' : 'name';
    pieces.push(html`${json.slice(end, match.index)}<span class="${kind}">${token}</span>`);
    end = match.index + token.length;
  }
  return html`${pieces}${json.slice(end)}`;
}
