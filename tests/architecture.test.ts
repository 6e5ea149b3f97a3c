import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

/** Which packages a package may know. */
const packages: Record<string, readonly string[]> = {
  protocol: [],
  store: [],
  starknet: ['protocol'],
  sandbox: ['protocol', 'starknet', 'store'],
  server: ['protocol', 'starknet', 'store', 'sandbox', 'web'],
  sdk: ['protocol', 'starknet'],
  web: ['protocol', 'sdk'],
};
/** What runs in browsers and at the edge, too: nothing of Node's own. */
const runsAnywhere = ['protocol', 'starknet', 'sdk', 'web'];

/** The server's rooms from the ground up: a room may use what stands on a lower floor. Within a floor, nobody uses a neighbour. */
const floors: readonly (readonly string[])[] = [
  ['ids.ts', 'outbound', 'reference', 'migrations.ts'],
  ['ledger', 'jobs', 'audit'],
  ['http', 'organizations', 'mail'],
  ['chains', 'crypto', 'events'],
  ['relayer'],
  ['bridge'],
  ['wallets'],
  ['transactions'],
  ['following'],
  ['deposits', 'gifts'],
  ['skus', 'exchanges', 'pages'],
  ['purchases'],
  [
    'config.ts',
    'variables.ts',
    'capabilities.ts',
    'background.ts',
    'checked-networks.ts',
    'credentials-file.ts',
    'banner.ts',
    'app.ts',
    'log.ts',
    'open-store.ts',
    'service.ts',
    'upkeep.ts',
    'main.ts',
    'admin.ts',
  ],
];
/** The two rooms of one floor that may use each other, because a request is authenticated by an organisation's keys. */
const neighbours = ['http', 'organizations'];
/** Capabilities reach another capability through its service, never its store; organisations are known to `http` alone. */
const capabilities = [
  'organizations',
  'skus',
  'exchanges',
  'wallets',
  'transactions',
  'deposits',
  'gifts',
  'purchases',
];

interface Arrow {
  readonly from: string;
  readonly to: string;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.tsx?$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !/[/\\]testing[/\\]|[/\\]fixtures[/\\]/.test(file));
}

function arrowsOf(file: string): Arrow[] {
  const text = readFileSync(file, 'utf8');
  const found = text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g);
  return [...found].map(([, to = '']) => ({ from: file, to }));
}

const nameOfPackage = (file: string) => path.relative(path.join(root, 'packages'), file).split(path.sep)[0] ?? '';

describe('the packages', () => {
  it('are all known to the plan', () => {
    const found = readdirSync(path.join(root, 'packages')).sort();
    expect(found).toEqual(Object.keys(packages).sort());
  });

  it('point their arrows one way', () => {
    const wrong = Object.keys(packages)
      .flatMap((name) => sources(path.join(root, 'packages', name, 'src')))
      .flatMap(arrowsOf)
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
    const wrong = sources(path.join(root, 'packages/server/src'))
      .flatMap(arrowsOf)
      .filter(({ from, to }) => to === '@svc/sandbox' && path.basename(from) !== 'main.ts');
    expect(wrong).toEqual([]);
  });

  it.each(runsAnywhere)('use nothing of Node where they run anywhere: %s', (name) => {
    const files = sources(path.join(root, 'packages', name, 'src'));
    const imports = files.flatMap(arrowsOf).filter(({ to }) => to.startsWith('node:') || isBuiltin(to));
    const globals = files.filter((file) => /\b(Buffer\.|process\.|require\()/.test(readFileSync(file, 'utf8')));
    expect([...imports, ...globals]).toEqual([]);
  });

  it('that go into a bundle take the schemas of the interface as types alone', () => {
    const wrong = sources(path.join(root, 'packages/sdk/src')).filter((file) =>
      /^import (?!type)[^;]*(?<!type )\bendpoints\b[^;]*'@svc\/protocol'/m.test(readFileSync(file, 'utf8')),
    );
    expect(wrong).toEqual([]);
  });
});

describe("the server's rooms", () => {
  const server = path.join(root, 'packages/server/src');
  const roomOf = (file: string) => path.relative(server, file).split(path.sep)[0] ?? '';
  const floorOf = (room: string) => floors.findIndex((floor) => floor.includes(room));
  const arrows = sources(server)
    .flatMap(arrowsOf)
    .filter(({ to }) => to.startsWith('.'))
    .map(({ from, to }) => ({ from, to: path.resolve(from, '..', to) }));

  it('are all known to the plan', () => {
    const rooms = new Set(sources(server).map(roomOf));
    expect([...rooms].filter((room) => floorOf(room) < 0)).toEqual([]);
  });

  it('use only what stands below them', () => {
    const wrong = arrows.filter(({ from, to }) => {
      const [one, other] = [roomOf(from), roomOf(to)];
      if (one === other || floorOf(one) === floors.length - 1) return false;
      if (neighbours.includes(one) && neighbours.includes(other)) return false;
      return floorOf(one) <= floorOf(other);
    });
    expect(wrong).toEqual([]);
  });

  it("do not read another capability's store", () => {
    const wrong = arrows.filter(({ from, to }) => {
      const [one, other] = [roomOf(from), roomOf(to)];
      const isStore = path.basename(to) === 'store.ts' && capabilities.includes(other);
      return isStore && one !== other && !['http', 'admin.ts'].includes(one);
    });
    expect(wrong).toEqual([]);
  });
});
