import { createHash } from 'node:crypto';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** The whole page and the policy that goes with it: its own style and frames of its own origin, and nothing else. */
export function page(title: string, body: string): { html: string; csp: string } {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const csp = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return {
    csp,
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeText(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`,
  };
}

const STYLE = `
:root{color-scheme:light dark;--page:#fff;--panel:#f5f7f9;--line:#e0e5ea;--ink:#1b232d;--muted:#55616f;--link:#0b5a9d}
@media (prefers-color-scheme:dark){:root{--page:#11151a;--panel:#191f26;--line:#2a323c;--ink:#e2e7ed;--muted:#9ba7b4;--link:#7db8f0}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem}
h1{font-size:1.4rem;line-height:1.3;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:2rem 0 .5rem}
a{color:var(--link)}
p{color:var(--muted)}
table{width:100%;table-layout:fixed;border-collapse:collapse;font-size:.95rem}
th,td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{color:var(--muted);font-weight:600}
th:first-child{width:26%}
iframe{width:100%;height:56rem;border:1px solid var(--line);border-radius:8px;background:#fff}
pre{margin:0;padding:1rem;background:var(--panel);border:1px solid var(--line);border-radius:8px;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.9rem}
`;
