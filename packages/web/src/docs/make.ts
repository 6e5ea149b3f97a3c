type Child = Node | string;
type Attributes = Readonly<Record<string, string>>;

/** Without a library: the page is HTML already, and this only adds to it. */
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes,
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Of the folder that has `docs`, so that a proxy may add a path prefix. */
export const rootUrl = (): string =>
  new URL(document.documentElement.dataset.root ?? './', location.href).href.replace(/\/$/, '');

const en = {
  search: 'Search the docs',
  searchHint: 'Press / to search',
  noResults: 'Nothing found.',
  results: (count: number) => `${count} results`,
  copy: 'Copy',
  copied: 'Copied',
  language: 'Language of the examples',
  colours: 'Colours',
  themes: { system: 'System', light: 'Light', dark: 'Dark' },
  tryIt: 'Try it',
  address: 'Address',
  body: 'Body (JSON)',
  publicKey: 'Public key of development',
  secretKey: 'Secret key of development, or a user token',
  keysHint:
    'Keys stay in this tab. Both are in .svc/credentials.json; left empty, the request uses your session of the dashboard.',
  send: 'Send',
  sending: 'Sending…',
  answer: 'Answer',
  onlyDevelopment: 'Only keys of development can be used here.',
  badJson: 'The body is not valid JSON.',
  failed: 'The service did not answer.',
};

const es: typeof en = {
  search: 'Buscar en la documentación',
  searchHint: 'Presiona / para buscar',
  noResults: 'Sin resultados.',
  results: (count) => `${count} resultados`,
  copy: 'Copiar',
  copied: 'Copiado',
  language: 'Lenguaje de los ejemplos',
  colours: 'Colores',
  themes: { system: 'Sistema', light: 'Claro', dark: 'Oscuro' },
  tryIt: 'Pruébalo',
  address: 'Dirección',
  body: 'Cuerpo (JSON)',
  publicKey: 'Llave pública de desarrollo',
  secretKey: 'Llave secreta de desarrollo, o un token de usuario',
  keysHint:
    'Las llaves se quedan en esta pestaña. Ambas están en .svc/credentials.json; si las dejas vacías, se usa tu sesión del panel.',
  send: 'Enviar',
  sending: 'Enviando…',
  answer: 'Respuesta',
  onlyDevelopment: 'Aquí solo se pueden usar llaves de desarrollo.',
  badJson: 'El cuerpo no es JSON válido.',
  failed: 'El servicio no respondió.',
};

export const words = document.documentElement.lang === 'es' ? es : en;
