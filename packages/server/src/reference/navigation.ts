import { methodBadge } from './badges.ts';
import { type Html, html } from './html.ts';
import { topics } from './introduction.ts';
import type { Operation } from './operations.ts';

/** On a narrow page the address of the open navigation, and of the bar that closes it again. */
export const CONTENTS = 'contents';
export const BAR = 'bar';

export const tagAnchor = (tag: string): string => `tag-${tag.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;

/** The fixed bar of a narrow page. */
export const bar = (title: string): Html => html`<div class="bar" id="${BAR}"><a class="brand" href="#top">${title}</a>
<a class="button" href="#${CONTENTS}">Contents</a></div>
`;

export function navigation(title: string, groups: ReadonlyMap<string, readonly Operation[]>): Html {
  return html`<nav id="${CONTENTS}" aria-label="Contents">
<p class="head"><a class="brand" href="#top">${title}</a> <a class="button" href="#${BAR}">Close</a></p>
${group(
  'Introduction',
  'introduction',
  topics.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>\n`),
)}${[...groups].map(([tag, operations]) => group(tag, tagAnchor(tag), operations.map(entry)))}<ul class="more">
<li><a href="#schemas">Schemas</a></li>
<li><a href="#errors">Errors</a></li>
</ul>
</nav>
`;
}

const group = (title: string, anchor: string, entries: readonly Html[]): Html =>
  html`<p><a href="#${anchor}">${title}</a></p>\n<ul>\n${entries}</ul>\n`;

function entry({ id, method, planned }: Operation): Html {
  const name = planned ? html`<span class="muted">${id}</span><span class="hidden"> (not built yet)</span>` : id;
  return html`<li><a href="#${id}">${methodBadge(method)} ${name}</a></li>\n`;
}
