/** The colours of the page, once for each scheme. `…Ink` is text that stands on the colour of the same name. */
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
  panel: '#f5f7f9',
  line: '#e0e5ea',
  ink: '#1b232d',
  muted: '#55616f',
  link: '#0b5a9d',
  focus: '#0b5a9d',
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
  planned: '#eef0f3',
  plannedInk: '#4d5866',
};

export const dark: Palette = {
  page: '#11151a',
  panel: '#191f26',
  line: '#2a323c',
  ink: '#e2e7ed',
  muted: '#9ba7b4',
  link: '#7db8f0',
  focus: '#7db8f0',
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
  planned: '#252d36',
  plannedInk: '#aeb9c5',
};

/** The palette as CSS variables: `getInk` becomes `--get-ink`. */
export const variables = (palette: Palette): string =>
  Object.entries(palette)
    .map(([name, value]) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}:${value};`)
    .join('');
