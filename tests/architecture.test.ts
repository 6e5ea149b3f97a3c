import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

/** Which packages a package may import. */
const packages: Record<string, readonly string[]> = {
  protocol: [],
  store: [],
  starknet: ['protocol'],
  sandbox: ['protocol', 'starknet', 'store'],
  server: ['protocol', 'starknet', 'store', 'sandbox', 'web'],
  sdk: ['protocol', 'starknet'],
  react: ['sdk'],
  web: ['protocol', 'sdk'],
  cli: ['protocol', 'sdk'],
};
/** They run in browsers and at the edge, so they use nothing of Node. */
const runsAnywhere = ['protocol', 'starknet', 'sdk', 'react', 'web'];

/** Folders of the server, lowest layer first. A folder imports lower layers only, never another folder of its own layer. */
const layers: readonly (readonly string[])[] = [
  ['util', 'outbound', 'log.ts'],
  ['ledger', 'jobs', 'crypto', 'audit-log.ts', 'reference'],
  ['http'],
  ['organizations', 'mail'],
  ['members'],
  ['auth', 'chains', 'events'],
  ['relayer'],
  ['bridge'],
  ['wallets'],
  ['transactions'],
  ['indexer'],
  ['deposits', 'gifts', 'skus', 'exchanges', 'treasuries', 'solana-transfers'],
  ['purchases', 'recipients'],
  ['reports', 'operator'],
];
/** They put the process together and may import every folder. */
const composition = [
  'admin.ts',
  'app.ts',
  'config.ts',
  'database.ts',
  'env-reader.ts',
  'keystore.ts',
  'listener.ts',
  'main.ts',
  'modules.ts',
  'pages.ts',
  'service.ts',
];
/** The files of a capability that other capabilities may import. */
const publicFiles: Record<string, readonly string[]> = {
  relayer: [
    ...['relay', 'relay-store', 'outcome', 'payer'],
    ...['reconcile-accounts', 'sponsorship', 'unknown-nonces', 'operator', 'budget'],
  ],
  wallets: ['wallet', 'wallet-class', 'signed-execution', 'create-wallet'],
  transactions: ['record', 'record-store', 'chain-transaction', 'record-send', 'execute'],
  organizations: ['organization-store', 'api-keys', 'settings', 'operator'],
  members: ['sessions', 'passkeys'],
  mail: ['mail', 'templates/'],
  bridge: ['bridge', 'cctp-message', 'follow-burn'],
  skus: ['skus'],
  exchanges: ['exchange'],
  events: ['events'],
  gifts: ['operator', 'claim', 'gift', 'redeem'],
  purchases: ['operator'],
  'solana-transfers': ['operator'],
  indexer: ['indexer'],
  deposits: [],
  treasuries: [],
  reports: [],
};
const MAX_LINES = 450;
/** House limits: files of a package without its tests. */
const maxFiles: Record<string, number> = { server: 180, sdk: 60, sandbox: 80 };

interface Import {
  readonly from: string;
  readonly to: string;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.tsx?$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !/[/\\](testing|fixtures)[/\\]/.test(file));
}

const sourcesOf = (name: string) => sources(path.join(root, 'packages', name, 'src'));

function importsOf(file: string): Import[] {
  const found = readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g);
  return [...found].map(([, to = '']) => ({ from: file, to }));
}

const localImportsOf = (file: string): Import[] =>
  importsOf(file)
    .filter(({ to }) => to.startsWith('.'))
    .map(({ from, to }) => ({ from, to: path.resolve(from, '..', to) }));

const nameOfPackage = (file: string) => path.relative(path.join(root, 'packages'), file).split(path.sep)[0] ?? '';
const short = (file: string) => path.relative(root, file);

/** The first circle of imports among the files, as paths. */
function findCircle(files: readonly string[]): string[] | undefined {
  const next = new Map(files.map((file) => [file, localImportsOf(file).map(({ to }) => to)]));
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file].map(short);
    if (done.has(file)) return undefined;
    for (const target of next.get(file) ?? []) {
      const circle = visit(target, [...trail, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of files) {
    const circle = visit(file, []);
    if (circle) return circle;
  }
  return undefined;
}

describe('the packages', () => {
  it('are all known to the plan', () => {
    const found = readdirSync(path.join(root, 'packages')).sort();
    expect(found).toEqual(Object.keys(packages).sort());
  });

  it('import each other in one direction', () => {
    const wrong = Object.keys(packages)
      .flatMap(sourcesOf)
      .flatMap(importsOf)
      .filter(({ from, to }) => {
        const target =
          /^@svc\/([^/]+)/.exec(to)?.[1] ??
          (to.startsWith('.') ? nameOfPackage(path.resolve(from, '..', to)) : undefined);
        const own = nameOfPackage(from);
        return target !== undefined && target !== own && !packages[own]?.includes(target);
      });
    expect(wrong).toEqual([]);
  });

  it('know the sandbox in main.ts alone', () => {
    const wrong = sourcesOf('server')
      .flatMap(importsOf)
      .filter(({ from, to }) => to === '@svc/sandbox' && path.basename(from) !== 'main.ts');
    expect(wrong).toEqual([]);
  });

  it.each(runsAnywhere)('use nothing of Node where they run anywhere: %s', (name) => {
    const files = sourcesOf(name);
    const imports = files.flatMap(importsOf).filter(({ to }) => to.startsWith('node:') || isBuiltin(to));
    const globals = files.filter((file) => /\b(Buffer\.|process\.|require\()/.test(readFileSync(file, 'utf8')));
    expect([...imports, ...globals]).toEqual([]);
  });

  it('that go into a bundle take the schemas of the interface as types alone', () => {
    const wrong = sourcesOf('sdk').filter((file) =>
      /^import (?!type)[^;]*(?<!type )\bendpoints\b[^;]*'@svc\/protocol'/m.test(readFileSync(file, 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  it.each(Object.keys(packages))('have no circle of imports: %s', (name) => {
    expect(findCircle(sourcesOf(name))).toBeUndefined();
  });

  it.each(Object.keys(packages))('have files of one idea, none larger than a reader takes in: %s', (name) => {
    const files = sourcesOf(name);
    const large = files.filter((file) => readFileSync(file, 'utf8').split('\n').length - 1 > MAX_LINES);
    const vague = files.filter((file) => /^(parts|utils?|helpers|misc)\.tsx?$/.test(path.basename(file)));
    expect([...large, ...vague].map(short)).toEqual([]);
    expect(files.length).toBeLessThanOrEqual(maxFiles[name] ?? Number.POSITIVE_INFINITY);
  });
});

describe("the server's folders", () => {
  const server = path.join(root, 'packages/server/src');
  const folderOf = (file: string) => path.relative(server, file).split(path.sep)[0] ?? '';
  const layerOf = (folder: string) => layers.findIndex((layer) => layer.includes(folder));
  const imports = sources(server).flatMap(localImportsOf);
  const between = imports.filter(({ from, to }) => {
    return folderOf(from) !== folderOf(to) && !composition.includes(folderOf(from));
  });
  const shown = (wrong: readonly Import[]) => wrong.map(({ from, to }) => `${short(from)} -> ${short(to)}`);

  it('are all known to the plan', () => {
    const folders = new Set(sources(server).map(folderOf));
    expect([...folders].filter((folder) => layerOf(folder) < 0 && !composition.includes(folder))).toEqual([]);
  });

  it('import lower layers only', () => {
    const wrong = between.filter(
      ({ from, to }) => layerOf(folderOf(from)) <= layerOf(folderOf(to)) || layerOf(folderOf(to)) < 0,
    );
    expect(shown(wrong)).toEqual([]);
  });

  it("import another capability's public files only", () => {
    const wrong = between.filter(({ to }) => {
      const open = publicFiles[folderOf(to)];
      const file = path.relative(path.join(server, folderOf(to)), to).replace(/\.ts$/, '');
      return open && !open.some((name) => (name.endsWith('/') ? file.startsWith(name) : file === name));
    });
    expect(shown(wrong)).toEqual([]);
  });
});

describe('the caches that docs/scaling.md lists', () => {
  const [, section = ''] = readFileSync(path.join(root, 'docs/scaling.md'), 'utf8').split('## What is kept in memory');
  const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\|.*\| `(packages\S+)` \| `(\w+ = [\d_]+)` \|$/gm)];

  it('are many', () => expect(rows.length).toBeGreaterThan(15));

  it.each(rows.map(([, file = '', bound = '']) => [bound, file]))('have the bound %s in %s', (bound, file) => {
    const source = readFileSync(path.join(root, file), 'utf8');
    expect(source).toContain(`const ${bound};`);
    const [name = ''] = bound.split(' ');
    expect(source.split(new RegExp(`\\b${name}\\b`)).length).toBeGreaterThan(2);
  });
});
