import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../packages/server/src/config.ts';
import { cannotRunHere, isRunHere, runsHere, stepsOf } from './testing/commands.ts';
import { asList, asMap, parseYaml, type Yaml, type YamlMap } from './testing/yaml.ts';

const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const filesIn = (folder: string, ending: RegExp) =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));

/** Every name that the configuration asks for. */
function settings(): Set<string> {
  const names = new Set<string>();
  const env = new Proxy<Record<string, string>>({}, { get: (_, name) => void names.add(String(name)) });
  readConfig(env);
  return names;
}

/** Every map inside, itself included. */
function* mapsIn(value: Yaml): Generator<YamlMap> {
  if (Array.isArray(value)) for (const item of value) yield* mapsIn(item);
  else if (value !== null && typeof value === 'object') {
    yield value;
    for (const item of Object.values(value)) yield* mapsIn(item);
  }
}

const kubernetes = () => filesIn('deploy/kubernetes', /\.yaml$/).flatMap((file) => parseYaml(read(file)).map(asMap));
const compose = () => asMap(parseYaml(read('deploy/compose/compose.yaml'))[0]);

describe('YAML of the deployment', () => {
  it.each(filesIn('deploy', /\.yaml$/))('can be read: %s', (file) => {
    expect(parseYaml(read(file)).length).toBeGreaterThan(0);
  });

  it.each([
    ['a: 1\n   b: 2', 'unexpected indentation'],
    ['a: 1\na: 2', 'a key twice'],
    ['a: |\n  text', 'not in our subset'],
    ['a', 'neither a key nor an item'],
  ])('is refused where it is not what was meant: %j', (source, problem) => {
    expect(() => parseYaml(source)).toThrow(problem);
  });

  it('is read as YAML reads it', () => {
    const source =
      "x: &x\n  a: 'it''s' # note\ny:\n  <<: *x\n  b: [c, \"d:e\"]\nz:\n  - k: v\n    l: {}\n  - m\n---\nn: null#1";
    expect(parseYaml(source)).toEqual([
      { x: { a: "it's" }, y: { a: "it's", b: ['c', 'd:e'] }, z: [{ k: 'v', l: {} }, 'm'] },
      { n: 'null#1' },
    ]);
  });
});

describe('settings of the deployment', () => {
  const known = settings();
  /** Of Node and of the images. */
  const others = ['NODE_ENV', 'POSTGRES_PASSWORD_FILE', 'POSTGRES_INITDB_ARGS', 'SVC_DOMAIN'];
  const unknown = (names: Iterable<string>) => [...names].filter((name) => !known.has(name) && !others.includes(name));

  it('are settings of the service in compose.yaml', () => {
    const services = Object.values(asMap(compose().services)).map(asMap);
    const names = services.flatMap(({ environment }) => Object.keys(asMap(environment ?? null)));
    expect(names).toContain('DATABASE_URL_FILE');
    expect(unknown(names)).toEqual([]);
  });

  it('are settings of the service in Kubernetes', () => {
    const names = kubernetes().flatMap((document) => [...mapsIn(document)].flatMap(({ env }) => asList(env ?? null)));
    const literals = kubernetes().flatMap(({ configMapGenerator }) =>
      asList(configMapGenerator ?? null).flatMap((each) => asList(asMap(each).literals)),
    );
    const all = [...names.map((each) => asMap(each).name), ...literals.map((text) => String(text).split('=')[0])];
    expect(all).toContain('PUBLIC_URL');
    expect(unknown(all.map(String))).toEqual([]);
  });

  it('are settings of the service in the examples, the units and the image', () => {
    const units = filesIn('deploy/systemd', /\.service$/)
      .map(read)
      .join('\n');
    const inUnits = [...units.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) =>
      line.split(' ').map((pair) => pair.split('=')[0] ?? ''),
    );
    const inExample = [...read('deploy/compose/svc.env.example').matchAll(/^([A-Z_]+)=/gm)].map(
      ([, name = '']) => name,
    );
    const inImage = (/^ENV (.*)$/m.exec(read('Dockerfile'))?.[1] ?? '')
      .split(' ')
      .map((pair) => pair.split('=')[0] ?? '');
    expect([inUnits.length, inExample.length, inImage.length].every((count) => count >= 5)).toBe(true);
    expect(unknown([...inUnits, ...inExample, ...inImage])).toEqual([]);
  });

  it('with secrets are files that are mounted', () => {
    const { secrets, services } = compose();
    const declared = Object.keys(asMap(secrets));
    for (const [name, service] of Object.entries(asMap(services))) {
      const mounted = asList(asMap(service).secrets ?? []);
      expect(declared, name).toEqual(expect.arrayContaining(mounted));
      for (const value of Object.values(asMap(asMap(service).environment ?? null))) {
        const secret = /^\/run\/secrets\/(\w+)$/.exec(String(value))?.[1];
        if (secret !== undefined) expect(mounted, name).toContain(secret);
      }
    }
  });
});

describe('the secrets of compose.yaml', () => {
  it('are made once, kept, and closed to other users', () => {
    const folder = path.join(mkdtempSync(path.join(tmpdir(), 'svc-compose-')), 'secrets');
    const make = () => execFileSync(path.join(root, 'deploy/compose/make-secrets.sh'), [folder], { encoding: 'utf8' });
    const output = make();
    const made = readdirSync(folder).sort();
    const wanted = Object.keys(asMap(compose().secrets)).sort();
    expect(wanted.filter((name) => !made.includes(name) && !output.includes(`missing: ${folder}/${name}`))).toEqual([]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const files = Object.fromEntries(made.map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]));
    expect(make()).not.toContain('made');
    for (const [name, text] of Object.entries(files)) {
      expect(readFileSync(path.join(folder, name), 'utf8'), name).toBe(text);
    }
    const config = readConfig({
      DATABASE_URL_FILE: path.join(folder, 'database_url'),
      DATABASE_OWNER_URL_FILE: path.join(folder, 'database_owner_url'),
      OPERATOR_TOKEN_FILE: path.join(folder, 'operator_token'),
    });
    expect(config.databaseUrl).toContain(files.service_password?.trim());
    expect(config.databaseOwnerUrl).toContain(files.owner_password?.trim());
    rmSync(path.dirname(folder), { recursive: true });
  });
});

describe('the image', () => {
  const lines = read('Dockerfile').replaceAll('\\\n', ' ').split('\n');
  const instructions = (name: string) => lines.filter((line) => line.startsWith(`${name} `));

  it('has the Node of the lock file, and no base without a version', () => {
    const [pinned] = Object.values(JSON.parse(read('package.json')).optionalDependencies);
    expect(instructions('ARG')).toEqual([`ARG NODE_IMAGE=node:${pinned}-trixie-slim`]);
    expect(instructions('FROM').every((line) => /\$\{NODE_IMAGE\}/.test(line))).toBe(true);
    const images = [...read('deploy/compose/compose.yaml').matchAll(/^ {4}image: (?!\$)(\S+)$/gm)].map(
      ([, name]) => name,
    );
    expect(images.length).toBeGreaterThan(0);
    for (const image of images) expect(image).toMatch(/:\d+\.\d+/);
  });

  it('copies files that exist and that .dockerignore lets in', () => {
    const ignored = read('.dockerignore').split('\n');
    const sources = instructions('COPY').flatMap((line) => line.split(' ').slice(1, -1));
    const paths = sources
      .filter((word) => !word.startsWith('--') && word !== '.')
      .map((word) => word.replace('/build/', ''));
    const own = paths.filter((file) => file !== 'node_modules');
    expect(own.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
    expect(own.filter((file) => ignored.includes(file))).toEqual([]);
  });

  it('is not run by root, and starts a file that exists', () => {
    expect(instructions('USER')).toEqual(['USER 1000:1000']);
    expect(instructions('ADD')).toEqual([]);
    for (const line of instructions('CMD')) {
      const [file = ''] = JSON.parse(line.slice('CMD '.length)) as string[];
      expect(existsSync(path.join(root, file))).toBe(true);
    }
    expect(instructions('HEALTHCHECK')[0]).toContain('/healthz');
  });

  it('leaves out only packages that the service does not load', () => {
    const removed = [
      ...(instructions('RUN')
        .join(' ')
        .matchAll(/node_modules\/(@?[\w-]+)/g) ?? []),
    ].map(([, name]) => name);
    expect(removed.length).toBeGreaterThan(5);
    const sources = ['server/src', 'store/src', 'protocol/src', 'starknet/src', 'sandbox/src', 'web/build']
      .flatMap((folder) => filesIn(`packages/${folder}`, /(?<!\.test)\.ts$/))
      .filter((file) => !file.includes('/testing/'));
    const loaded = sources.filter((file) =>
      [...read(file).matchAll(/^(?:import|export) (?!type).*from '([^']+)'/gm)].some(([, name = '']) =>
        removed.some((each) => name === each || name.startsWith(`${each}/`)),
      ),
    );
    expect(loaded).toEqual([]);
  });
});

describe('what runs in Kubernetes', () => {
  const pods = kubernetes().filter(({ kind }) => kind === 'Deployment' || kind === 'Job');

  it('is restricted: not root, nothing to write, no rights', () => {
    expect(pods.length).toBe(3);
    for (const pod of pods) {
      const spec = asMap(asMap(asMap(pod.spec).template).spec);
      expect(spec).toMatchObject({ automountServiceAccountToken: 'false', securityContext: { runAsNonRoot: 'true' } });
      for (const container of asList(spec.containers)) {
        expect(asMap(container).securityContext).toEqual({
          allowPrivilegeEscalation: 'false',
          readOnlyRootFilesystem: 'true',
          capabilities: { drop: ['ALL'] },
        });
        for (const mount of asList(asMap(container).volumeMounts)) {
          const names = asList(spec.volumes).map((volume) => asMap(volume).name);
          expect(names).toContain(asMap(mount).name);
        }
      }
    }
  });

  it('is asked for its health and its readiness on the port of the image', () => {
    for (const pod of pods.filter(({ kind }) => kind === 'Deployment')) {
      const [container] = asList(asMap(asMap(asMap(pod.spec).template).spec).containers);
      expect(container).toMatchObject({
        ports: [{ containerPort: /PORT=(\d+)/.exec(read('Dockerfile'))?.[1] }],
        livenessProbe: { httpGet: { path: '/healthz' } },
        readinessProbe: { httpGet: { path: '/readyz' } },
      });
    }
  });

  it('is all in the kustomization', () => {
    const files = filesIn('deploy/kubernetes', /\.yaml$/).map((file) => path.basename(file));
    const { resources } = asMap(parseYaml(read('deploy/kubernetes/kustomization.yaml'))[0]);
    expect(asList(resources).map(String).sort()).toEqual(files.filter((file) => file !== 'kustomization.yaml').sort());
  });
});

describe('alarms and dashboard', () => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'svc_' });
  const ofNode = registry.getMetricsAsArray().map(({ name }) => name);
  registry.clear();
  const sources = filesIn('packages/server/src', /(?<!\.test)\.ts$/)
    .map(read)
    .join('\n');
  const ours = [...sources.matchAll(/'(svc_[a-z_]+)'/g)].map(([, name = '']) => name);
  const known = new Set([
    ...ours,
    ...ofNode,
    ...['bucket', 'sum', 'count'].map((end) => `svc_http_request_duration_seconds_${end}`),
  ]);
  const rules = () => [...mapsIn(parseYaml(read('deploy/prometheus/alerts.yaml')))].filter(({ alert }) => alert);
  const panels = () =>
    (JSON.parse(read('deploy/grafana/svc.json')) as { panels: { targets?: { expr: string }[] }[] }).panels;
  const metricsIn = (text: string) => [...text.matchAll(/\bsvc_[a-z0-9_]+/g)].map(([name]) => name);

  it('name only metrics that the service has', () => {
    const inRules = rules().flatMap(({ expr }) => metricsIn(String(expr)));
    const inPanels = panels().flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr)));
    expect([inRules.length > 20, inPanels.length > 20]).toEqual([true, true]);
    expect([...inRules, ...inPanels].filter((name) => !known.has(name))).toEqual([]);
  });

  it('watch every metric for which the guide asks for an alarm', () => {
    /** Counts whose age has the alarm, and one that the guide only explains. */
    const shown = ['svc_purchases_open', 'svc_redeems_waiting', 'svc_claim_proofs'];
    const guide = read('docs/operations.md').split('\n');
    const asked = guide.filter((line) => /\balarms? on\b/.test(line)).flatMap(metricsIn);
    const watched = new Set([...shown, ...rules().flatMap(({ expr }) => metricsIn(String(expr)))]);
    expect(asked.length).toBeGreaterThan(8);
    expect(asked.filter((name) => !watched.has(name))).toEqual([]);
  });

  it('say what to do', () => {
    for (const { alert, annotations, labels } of rules()) {
      expect(asMap(annotations).description, String(alert)).toMatch(/\w/);
      expect(['page', 'warn'], String(alert)).toContain(asMap(labels).severity);
    }
  });
});

describe('migrations', () => {
  /** Earlier ones were made before the rule. */
  const FIRST = 33;

  it('that remove or rename say so in their first line, because the version before still runs', () => {
    const files = filesIn('packages/server/migrations', /\.sql$/).filter(
      (file) => Number(path.basename(file).slice(0, 4)) >= FIRST,
    );
    const removing = files.filter((file) => /\bdrop (table|column)\b|\brename (to|column)\b/i.test(read(file)));
    expect(removing.filter((file) => !read(file).startsWith('-- Contracts: '))).toEqual([]);
  });
});

describe('the guides', () => {
  const guides = ['docs/deploy.md', 'docs/upgrades.md'].map(read).join('\n');

  it('name files that exist', () => {
    const named = [...guides.matchAll(/\b(?:deploy|packages|contracts)\/[\w./@-]*\w/g)].map(([file]) => file);
    const made = /^deploy\/compose\/(secrets|svc\.env$|\.env$)/;
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((file) => !made.test(file) && !existsSync(path.join(root, file)))).toEqual([]);
  });

  it('use commands of the operator and of npm that exist', () => {
    const commands = [...guides.matchAll(/admin\.ts (\w+ \w+)/g)].map(([, name = '']) => name);
    expect(commands.length).toBeGreaterThan(3);
    expect(commands.filter((name) => !read('packages/server/src/admin.ts').includes(`'${name}'`))).toEqual([]);
    const scripts = [...guides.matchAll(/npm run (?:--prefix \S+ )?([\w:]+)/g)].map(([, name = '']) => name);
    expect(scripts.filter((name) => JSON.parse(read('package.json')).scripts[name] === undefined)).toEqual([]);
  });

  it('have commands that their test runs, or that cannot run here for a reason', () => {
    const steps = ['docs/deploy.md', 'docs/upgrades.md'].flatMap((file) => stepsOf(read(file)));
    const shell = steps.filter(({ language }) => language === 'sh');
    expect(shell.length).toBeGreaterThan(35);
    expect(shell.filter((step) => isRunHere(step) && !runsHere.test(step.text))).toEqual([]);
    const unused = cannotRunHere.filter(([command]) => !shell.some(({ text }) => command.test(text)));
    expect(unused).toEqual([]);
  });

  it('lead to settings that the service accepts', () => {
    const lines = read('deploy/compose/svc.env.example').split('\n');
    const example = Object.fromEntries(
      lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.split(/=(.*)/s, 2)),
    );
    const filled = {
      SVC_CLASS_HASH: read('contracts/compiled/class-hash.txt').trim(),
      PAYMENT_ADDRESS: '0x77',
      RELAYER_ACCOUNTS: '0x1:0xa',
      MANAGER_ACCOUNT: '0x2:0xb',
      DATABASE_URL: 'postgres://svc_service@postgres:5432/svc',
    };
    const config = readConfig({ ...example, ...filled });
    expect(config).toMatchObject({ sandbox: false, publicUrl: 'https://svc.example.com', warnings: [] });
    expect(read('deploy/kubernetes/kustomization.yaml')).toContain(`SVC_CLASS_HASH=${filled.SVC_CLASS_HASH}`);
  });
});
