import { Html, html } from './html.ts';
import { style } from './style.ts';

interface Parts {
  readonly title: string;
  readonly bar: Html;
  readonly navigation: Html;
  readonly content: Html;
}

/** The document around the content: head, style, skip link and landmarks. */
export function layout({ title, bar, navigation, content }: Parts): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body id="top">
<a class="skip" href="#main">Skip to the content</a>
${bar}<div class="frame">
${navigation}<main id="main">
${content}</main>
</div>
</body>
</html>
`.text;
}
