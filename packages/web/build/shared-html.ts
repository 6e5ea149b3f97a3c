import type { Plugin } from 'vite';

const head = `<meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="theme-color" content="#fbfaf8" media="(prefers-color-scheme: light)" />
    <meta name="theme-color" content="#131110" media="(prefers-color-scheme: dark)" />
    <meta name="color-scheme" content="light dark" />
    <meta name="robots" content="noindex" />
    <link rel="icon" type="image/svg+xml" href="./src/ui/icon.svg" />`;

const withoutScript = `<noscript>
      <p>This page needs JavaScript. Please switch it on in your browser.</p>
      <p lang="es">Esta página necesita JavaScript. Actívalo en tu navegador.</p>
    </noscript>`;

/** What the HTML files of several pages have in common, in the place of a comment. */
export const sharedHtml: Plugin = {
  name: 'svc-shared-html',
  transformIndexHtml: {
    order: 'pre',
    handler: (html) => html.replace('<!-- head -->', head).replace('<!-- without script -->', withoutScript),
  },
};
