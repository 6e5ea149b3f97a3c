/** `…Ink` is the text colour on the colour of the same name. */
export type Palette = Readonly<Record<ColourName, string>>;

type ColourName =
  | 'page'
  | 'panel'
  | 'line'
  | 'ink'
  | 'muted'
  | 'link'
  | 'focus'
  | 'string'
  | 'number'
  | `${'get' | 'post' | 'patch' | 'delete' | 'planned'}${'' | 'Ink'}`;

export const light: Palette = {
  page: '#ffffff',
  panel: '#f5f2ee',
  line: '#e8e3dd',
  ink: '#211b17',
  muted: '#5f564e',
  link: '#a11d4a',
  focus: '#a11d4a',
  string: '#1a6b41',
  number: '#8a4b08',
  get: '#e6f0fa',
  getInk: '#0b5394',
  post: '#e3f4e9',
  postInk: '#17643a',
  patch: '#fbf0da',
  patchInk: '#7d4a00',
  delete: '#fbe8e7',
  deleteInk: '#a02420',
  planned: '#efebe6',
  plannedInk: '#5a514a',
};

export const dark: Palette = {
  page: '#131110',
  panel: '#1b1917',
  line: '#2f2b28',
  ink: '#f0ebe6',
  muted: '#aca39b',
  link: '#ff9dbb',
  focus: '#ff9dbb',
  string: '#8fd3a8',
  number: '#e8b878',
  get: '#152d45',
  getInk: '#90c4f5',
  post: '#143322',
  postInk: '#88d6a6',
  patch: '#382a10',
  patchInk: '#edc27a',
  delete: '#3f1e1d',
  deleteInk: '#f3a39e',
  planned: '#2f2b28',
  plannedInk: '#bdb4ac',
};

/** The palette as CSS variables: `getInk` becomes `--get-ink`. */
export const variables = (palette: Palette): string =>
  Object.entries(palette)
    .map(([name, value]) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}:${value};`)
    .join('');

const base = `
:root { color-scheme: light dark; ${variables(light)} --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; }
@media (prefers-color-scheme: dark) { :root:not([data-theme='light']) { ${variables(dark)} } }
:root[data-theme='light'] { color-scheme: light; }
:root[data-theme='dark'] { color-scheme: dark; ${variables(dark)} }
*, ::before, ::after { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; }
h1, h2, h3, h4, p, ul, figure, table { margin: 0; }
h1 { font-size: 2.1rem; line-height: 1.2; letter-spacing: -0.02em; }
h2 { font-size: 1.6rem; line-height: 1.25; letter-spacing: -0.015em; }
h3 { font-size: 1.15rem; line-height: 1.35; letter-spacing: -0.005em; }
h4 { margin-top: 1.75rem; font-size: 0.875rem; color: var(--muted); font-weight: 600; }
p + p, p + ul, ul + p, ul + ul, .scroll + p { margin-top: 0.75rem; }
a { color: var(--link); text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
h3 a, .brand, nav a { color: inherit; text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
/* Rounded corners cut an outer outline of a scrolling box. */
pre:focus-visible, .scroll:focus-visible { outline-offset: -2px; }
code, pre { font-family: var(--mono); }
code { font-size: 0.875em; overflow-wrap: break-word; }
p code, li code, td code { padding: 0.1em 0.2em; border-radius: 4px; background: var(--panel); }
th code { white-space: nowrap; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: 1rem; top: -4rem; z-index: 3; padding: 0.5rem 1rem; border-radius: 0 0 6px 6px; background: var(--link); color: var(--page); }
.skip:focus { top: 0; }
`;

const components = `
.method, .planned, .status { display: inline-block; border-radius: 4px; font-weight: 600; white-space: nowrap; }
.method { padding: 0.1rem 0.45rem; font: 600 0.75rem/1.5 var(--mono); }
.get { background: var(--get); color: var(--get-ink); }
.post { background: var(--post); color: var(--post-ink); }
.patch, .put { background: var(--patch); color: var(--patch-ink); }
.delete { background: var(--delete); color: var(--delete-ink); }
.planned { padding: 0.15rem 0.5rem; background: var(--planned); color: var(--planned-ink); font-size: 0.75rem; letter-spacing: 0; vertical-align: 0.1em; }
.route { display: flex; gap: 0.6rem; align-items: baseline; margin: 0.6rem 0 0.9rem; }
.route code { min-width: 0; padding: 0; background: none; font-size: 0.9rem; overflow-wrap: anywhere; }
.credentials { margin-top: 0.75rem; font-size: 0.875rem; }
.label { margin-right: 0.5rem; color: var(--muted); font-weight: 600; }
.credential { white-space: nowrap; }
.answers { padding: 0; list-style: none; }
.answers li { margin-top: 0.5rem; font-size: 0.9rem; }
.status { margin-right: 0.4rem; padding: 0 0.4rem; background: var(--post); color: var(--post-ink); font: 600 0.75rem/1.7 var(--mono); }
.note { color: var(--muted); font-size: 0.8125rem; font-weight: 400; }
.scroll { overflow-x: auto; margin-top: 0.5rem; border: 1px solid var(--line); border-radius: 8px; }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; line-height: 1.5; text-align: left; }
th, td { padding: 0.55rem 0.85rem; vertical-align: top; font-weight: 400; }
thead th { background: var(--panel); color: var(--muted); font-size: 0.8125rem; font-weight: 600; }
tbody tr { border-top: 1px solid var(--line); }
tr:target { background: var(--get); }
.fields tbody th { width: 38%; }
.fields th code { white-space: normal; }
.limits code { overflow-wrap: anywhere; }
.fields .note { display: block; }
.note .required { color: var(--number); }
.fields p { margin: 0.15rem 0 0; }
.inside, .limits { color: var(--muted); }
.limits { font-size: 0.8125rem; }
.type { color: var(--muted); font-family: var(--mono); font-size: 0.8125rem; }
details { margin-top: 1.75rem; }
summary { width: fit-content; cursor: pointer; font-size: 0.875rem; font-weight: 600; color: var(--muted); }
summary .note { margin-left: 0.35rem; }
.code { border: 1px solid var(--line); border-radius: 8px; background: var(--panel); overflow: hidden; }
.code + .code { margin-top: 1rem; }
figcaption { padding: 0.45rem 0.9rem; border-bottom: 1px solid var(--line); color: var(--muted); font-size: 0.8125rem; font-weight: 600; }
pre { margin: 0; padding: 0.8rem 0.9rem; overflow-x: auto; font-size: 0.8125rem; line-height: 1.55; }
pre code { font-size: inherit; }
.string { color: var(--string); }
.number { color: var(--number); }
.address code { display: inline-block; padding: 0.45rem 0.8rem; border: 1px solid var(--line); border-radius: 8px; font-size: 0.95rem; }
`;

const layout = `
.frame { display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem 3rem 1.5rem; border-right: 1px solid var(--line); background: var(--panel); font-size: 0.875rem; line-height: 1.4; overscroll-behavior: contain; }
nav .head { margin: 0 0 1.25rem; font-size: 1.05rem; }
.brand { font-weight: 700; letter-spacing: -0.01em; }
nav p { margin: 1.5rem 0 0.35rem; font-weight: 600; }
nav ul { padding: 0; list-style: none; }
nav li a { display: flex; gap: 0.5rem; align-items: center; margin-left: -0.5rem; padding: 0.25rem 0.5rem; border-radius: 6px; overflow-wrap: anywhere; }
nav li a:hover { background: var(--line); text-decoration: none; }
nav .method { flex: none; width: 3.6em; padding: 0.05rem 0; text-align: center; font-size: 0.625rem; }
nav .muted { color: var(--muted); }
nav .more { margin-top: 1.5rem; font-weight: 600; }
.bar, nav .button { display: none; }
main { padding: 3rem clamp(1.25rem, 3vw, 4rem) 6rem; min-width: 0; }
.lead { max-width: 44rem; margin-top: 0.75rem; color: var(--muted); font-size: 1.1rem; }
.intro { margin-top: 3rem; }
.intro > p { max-width: 44rem; margin-top: 0.75rem; }
.topic { max-width: 44rem; margin-top: 2.25rem; }
.topic h3 { margin-bottom: 0.6rem; }
.topic .code { margin-top: 0.9rem; }
.topic .code + p { margin-top: 0.9rem; }
.topic ul { padding-left: 1.2rem; }
.topic li + li { margin-top: 0.35rem; }
.group { margin-top: 4.5rem; }
.group > .scroll { max-width: 60rem; }
.group > p { max-width: 44rem; margin-top: 0.5rem; }
.operation { margin-top: 2rem; padding-top: 2rem; border-top: 1px solid var(--line); max-width: 44rem; }
.examples { margin-top: 1.75rem; }
footer { margin-top: 4rem; color: var(--muted); font-size: 0.875rem; }
@media (min-width: 75rem) {
.operation { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 0.95fr); gap: 2rem; max-width: 76rem; }
.examples { margin-top: 0; position: sticky; top: 1.5rem; align-self: start; }
}
@media (max-width: 52rem) {
html { scroll-padding-top: 4.25rem; }
.frame { display: block; }
.bar, nav .head { display: flex; justify-content: space-between; align-items: center; }
.bar { position: fixed; inset: 0 0 auto; z-index: 1; height: 3.25rem; padding: 0 1.25rem; border-bottom: 1px solid var(--line); background: var(--page); }
.button, nav .button { display: block; padding: 0.3rem 0.8rem; border: 1px solid var(--line); border-radius: 6px; color: var(--ink); font-size: 0.875rem; font-weight: 500; text-decoration: none; }
nav { display: none; position: fixed; inset: 0; z-index: 2; height: auto; padding: 0 1.25rem 3rem; border: 0; background: var(--page); font-size: 1rem; }
nav:target { display: block; }
nav .head { position: sticky; top: 0; height: 3.25rem; margin: 0 -1.25rem; padding: 0 1.25rem; border-bottom: 1px solid var(--line); background: var(--page); font-size: 1rem; }
nav li a { padding-block: 0.45rem; }
nav .method { font-size: 0.6875rem; }
main { padding: 5rem 1.25rem 4rem; }
.fields tbody th { width: 42%; }
h1 { font-size: 1.75rem; }
.group { margin-top: 3.5rem; }
th, td { padding-inline: 0.7rem; }
}
@media print { nav, .bar, .skip { display: none; } .frame { display: block; } .operation { display: block; } }
`;

export const style = `${base}${components}${layout}`;
