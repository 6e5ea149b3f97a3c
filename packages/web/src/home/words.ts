const en = {
  title: 'svc',
  lead: 'Wallets, payments and gift codes on Starknet, in one service of your own.',
  version: (version: string) => `Version ${version}`,
  networks: { mainnet: 'Starknet mainnet', sepolia: 'Starknet Sepolia' },
  production: 'Production',
  development: 'Development',
  notConfigured: 'no live network configured',
  sandbox: 'sandbox on this machine',
  noSandbox: 'off',
  runs: 'What runs here',
  signIn: 'Sign in as the developer',
  signingIn: 'Signing in…',
  signInHint: 'Opens the dashboard of the development organisation. Works only in a browser on this machine.',
  signInFailed: 'The sign-in link could not be made. The terminal prints one when the service starts.',
  links: 'Where to go',
  language: 'Español',
  theme: 'Colours',
  pages: {
    dashboard: ['Dashboard', 'Wallets, transactions, gifts, purchases, keys and settings'],
    docs: ['Reference', 'Every endpoint, with examples to copy'],
    claim: ['Claim page', 'Where people redeem a gift code'],
    explorer: ['Explorer', 'Blocks, transactions and accounts of the sandbox chain'],
    mailbox: ['Mailbox', 'All mail sent in development'],
    health: ['Health', 'Whether the service and its parts are ready'],
  },
} as const;

type Texts<T> = T extends string
  ? string
  : T extends (...args: infer A) => string
    ? (...args: A) => string
    : { readonly [K in keyof T]: Texts<T[K]> };

const es: Texts<typeof en> = {
  title: 'svc',
  lead: 'Wallets, pagos y códigos de regalo en Starknet, en un solo servicio tuyo.',
  version: (version) => `Versión ${version}`,
  networks: { mainnet: 'Starknet mainnet', sepolia: 'Starknet Sepolia' },
  production: 'Producción',
  development: 'Desarrollo',
  notConfigured: 'sin red real configurada',
  sandbox: 'sandbox en este equipo',
  noSandbox: 'apagado',
  runs: 'Qué corre aquí',
  signIn: 'Entrar como desarrollador',
  signingIn: 'Entrando…',
  signInHint: 'Abre el panel de la organización de desarrollo. Solo funciona en un navegador de este equipo.',
  signInFailed: 'No se pudo crear el enlace. La terminal imprime uno cuando el servicio arranca.',
  links: 'A dónde ir',
  language: 'English',
  theme: 'Colores',
  pages: {
    dashboard: ['Panel', 'Wallets, transacciones, regalos, compras, llaves y ajustes'],
    docs: ['Referencia', 'Cada endpoint, con ejemplos para copiar'],
    claim: ['Página de canje', 'Donde las personas canjean un código de regalo'],
    explorer: ['Explorador', 'Bloques, transacciones y cuentas de la cadena del sandbox'],
    mailbox: ['Buzón', 'Todo el correo enviado en desarrollo'],
    health: ['Salud', 'Si el servicio y sus partes están listos'],
  },
};

export const words: Readonly<Record<'en' | 'es', Texts<typeof en>>> = { en, es };
