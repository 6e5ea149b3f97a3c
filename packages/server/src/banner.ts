import type { Development } from './organizations/development.ts';

export interface BannerFacts {
  readonly role: 'all' | 'api' | 'worker';
  readonly publicUrl: string;
  readonly startedInMs: number;
  readonly database: string;
  readonly development: Development | undefined;
  readonly credentialsFile: string;
}

/** What a newcomer reads first: where things are, which keys to use, and one line to paste. */
export function banner(facts: BannerFacts): string {
  const { publicUrl, development } = facts;
  if (facts.role === 'worker') return `\nsvc is ready to run jobs; its health is at ${publicUrl}/readyz\n`;
  const rows: [string, string][] = [
    ['Interface', `${publicUrl}/v1`],
    ['Reference', `${publicUrl}/docs`],
    ...(development ? [['Starknet', `${publicUrl}/sandbox/starknet/rpc`] as [string, string]] : []),
    ['Database', facts.database],
    ...keyRows(facts),
  ];
  const table = rows.map(([name, value]) => `  ${name.padEnd(12)}${value}`).join('\n');
  const parts = [`svc is ready (${(facts.startedInMs / 1000).toFixed(1)} s)`, table];
  if (development?.secretKey !== undefined)
    parts.push(firstCall(publicUrl, development.publicKey, development.secretKey));
  return `\n${parts.join('\n\n')}\n`;
}

function keyRows({ development, credentialsFile }: BannerFacts): [string, string][] {
  if (!development) return [['Keys', 'none for development; `npm run admin` makes organisations and keys']];
  const { publicKey, secretKey } = development;
  if (secretKey === undefined) {
    return [
      ['Public key', publicKey],
      ['Secret key', 'shown at the first start; `npm run admin` makes another, or set SVC_DEV_SECRET_KEY'],
    ];
  }
  return [
    ['Public key', publicKey],
    ['Secret key', secretKey],
    ['Kept in', credentialsFile],
  ];
}

function firstCall(publicUrl: string, publicKey: string, secretKey: string): string {
  return [
    '  Try it:',
    '',
    `  curl '${publicUrl}/v1/skus?category=RECARGAS&limit=3' \\`,
    `    -H 'x-api-key: ${publicKey}' \\`,
    `    -H 'Authorization: Bearer ${secretKey}'`,
  ].join('\n');
}
