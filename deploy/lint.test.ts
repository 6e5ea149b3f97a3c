import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { asList, asMap, asTexts, parseYaml, type YamlMap } from './testing/yaml.ts';

const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** Rules of hadolint that our file could break. */
function lintDockerfile(source: string): string[] {
  const lines = source
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const instructions = lines.map((line) => ({
    name: line.split(' ')[0] ?? '',
    rest: line.slice(line.indexOf(' ') + 1),
  }));
  const of = (name: string) => instructions.filter((each) => each.name === name).map(({ rest }) => rest);
  const known = ['ARG', 'FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'];
  const stages = of('FROM').flatMap((rest) => / AS (\w+)$/.exec(rest)?.[1] ?? []);
  const sources = of('COPY').flatMap((rest) => /--from=(\w+)/.exec(rest)?.[1] ?? []);
  const last = source.slice(source.lastIndexOf('\nFROM '));
  const commands = [
    ...of('ENTRYPOINT'),
    ...of('CMD'),
    ...of('HEALTHCHECK').map((rest) => rest.split(' CMD ')[1] ?? ''),
  ];
  return [
    ...instructions
      .filter(({ name }) => !known.includes(name))
      .map(({ name }) => `${name} is not an instruction of ours`),
    ...sources.filter((name) => !stages.includes(name)).map((name) => `there is no stage ${name}`),
    ...stages.filter((name) => !sources.includes(name)).map((name) => `the stage ${name} is not used`),
    ...of('WORKDIR')
      .filter((rest) => !path.isAbsolute(rest))
      .map((rest) => `WORKDIR ${rest} is relative`),
    ...commands.filter((rest) => !rest.startsWith('["')).map((rest) => `${rest} runs in a shell`),
    ...['ENTRYPOINT', 'CMD', 'HEALTHCHECK', 'USER']
      .filter((name) => of(name).length !== 1)
      .map((name) => `${name} is not there once`),
    ...of('RUN')
      .filter((rest) => /\bsudo\b|\bnpm install\b|\bapt-get\b|\bcd \b|:latest/.test(rest))
      .map((rest) => `RUN ${rest}`),
    ...(/^(ENV|ARG) .*(TOKEN|PASSWORD|SECRET|KEY)/m.test(source) ? ['a secret is part of the image'] : []),
    ...(/^RUN /m.test(last) ? ['the last stage runs something: it could not be built for another platform'] : []),
  ];
}

describe('the Dockerfile', () => {
  it('follows the rules of a small, safe image, for every platform from one build', () => {
    const source = read('Dockerfile');
    expect(lintDockerfile(source)).toEqual([]);
    // What is built runs on the machine that builds; only the base of the last stage is of the other platform.
    const bases = [...source.matchAll(/^FROM (.*)$/gm)].map(([, rest = '']) =>
      rest.startsWith('--platform=$BUILDPLATFORM '),
    );
    expect(bases).toEqual([true, true, false]);
    expect(read('docs/deploy.md')).toContain('--platform linux/amd64,linux/arm64');
  });

  it.each([
    ['USER 1000:1000', 'USER 1000:1000\nUSER root', 'USER is not there once'],
    ['COPY --from=packages', 'COPY --from=package', 'there is no stage package'],
    ['CMD ["packages/server/src/main.ts"]', 'CMD node main.ts', 'node main.ts runs in a shell'],
    ['USER 1000:1000', 'RUN npm rebuild\nUSER 1000:1000', 'the last stage runs something'],
    ['WORKDIR /app', 'WORKDIR app', 'WORKDIR app is relative'],
    ['ENV NODE_ENV', 'ENV OPERATOR_TOKEN=op_1\nENV NODE_ENV', 'a secret is part of the image'],
  ])('is refused with another line: %s → %s', (from, to, problem) => {
    expect(lintDockerfile(read('Dockerfile').replace(from, to)).join('\n')).toContain(problem);
  });
});

const SERVICE_KEYS =
  'build cap_add cap_drop command depends_on entrypoint env_file environment healthcheck image init networks ports read_only restart secrets security_opt shm_size stop_grace_period tmpfs volumes'.split(
    ' ',
  );

/** What `docker compose config` refuses, and what a service of ours must have. */
function lintCompose(source: string): string[] {
  const file = asMap(parseYaml(source)[0]);
  const declared = (key: string) => Object.keys(asMap(file[key]));
  const services = Object.entries(asMap(file.services)).map(([name, each]) => [name, asMap(each)] as const);
  const unknown = (name: string, what: string, used: string[], known: string[]) =>
    used.filter((each) => !known.includes(each)).map((each) => `${name}: the ${what} ${each} is not declared`);
  return services.flatMap(([name, service]) => {
    const volumes = asTexts(service.volumes).map(
      (text) => text.replace(/\$\{\w+:-([^}]*)\}/, '$1').split(':')[0] ?? '',
    );
    const isOurs = !/^(postgres|caddy):/.test(String(service.image));
    return [
      ...unknown(name, 'key', Object.keys(service), SERVICE_KEYS),
      ...unknown(name, 'secret', asTexts(service.secrets), declared('secrets')),
      ...unknown(name, 'network', asTexts(service.networks), declared('networks')),
      ...unknown(
        name,
        'volume',
        volumes.filter((source) => /^\w/.test(source)),
        declared('volumes'),
      ),
      ...unknown(
        name,
        'service',
        Object.keys(asMap(service.depends_on)),
        services.map(([other]) => other),
      ),
      ...(isOurs && service.read_only !== 'true' ? [`${name} can write to its file system`] : []),
      ...(isOurs && asTexts(service.cap_drop).join() !== 'ALL' ? [`${name} keeps rights`] : []),
      ...(name !== 'proxy' && service.ports !== undefined ? [`${name} is open to the network`] : []),
    ];
  });
}

describe('compose.yaml', () => {
  const source = read('deploy/compose/compose.yaml');

  it('is complete in itself, writes nowhere but where it has to, and opens the proxy alone', () => {
    expect(lintCompose(source)).toEqual([]);
  });

  it.each([
    ['  worker:\n    <<: *service', '  worker:\n    privileged: "true"\n    <<: *service', 'the key privileged'],
    ['read_only: true', 'read_only: false', 'can write to its file system'],
    ['secrets: [database_url, database_owner_url]', 'secrets: [database_url, owner_url]', 'the secret owner_url'],
    ['  postgres: {}\n', '', 'the volume postgres'],
    ['    networks: [database]\n    healthcheck', '    ports: ["5432:5432"]\n    healthcheck', 'postgres is open'],
  ])('is refused with another line: %j → %j', (from, to, problem) => {
    expect(lintCompose(source.replace(from, to)).join('\n')).toContain(problem);
  });
});

describe('the manifests of Kubernetes', () => {
  const documents = readdirSync(path.join(root, 'deploy/kubernetes')).flatMap((file) =>
    parseYaml(read(`deploy/kubernetes/${file}`)).map(asMap),
  );
  const named = (kind: string) =>
    new Map(
      documents
        .filter((each) => each.kind === kind)
        .map((each) => [String(asMap(each.metadata).name), asMap(each.spec)]),
    );
  const deployments = named('Deployment');
  const labelsOf = (spec: YamlMap) => asMap(asMap(spec.selector).matchLabels);

  it('keep a copy of each deployment through drains, and add copies under load', () => {
    expect([...deployments.keys()].sort()).toEqual(['svc-api', 'svc-worker']);
    for (const [name, spec] of deployments) {
      const budget = named('PodDisruptionBudget').get(name) ?? {};
      const scaler = named('HorizontalPodAutoscaler').get(name) ?? {};
      expect(labelsOf(budget)).toEqual(labelsOf(spec));
      expect(asMap(scaler.scaleTargetRef)).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name });
      const [available, fewest, most] = [budget.minAvailable, scaler.minReplicas, scaler.maxReplicas].map(Number);
      expect(available).toBeGreaterThan(0);
      expect(fewest).toBeGreaterThan(available ?? 0);
      expect(most).toBeGreaterThan(fewest ?? 0);
      expect(spec.replicas).toBe(scaler.minReplicas);
    }
  });

  it('select pods that exist, and name ports, probes and memory for each', () => {
    for (const [name, spec] of deployments) {
      const template = asMap(spec.template);
      expect(asMap(asMap(template.metadata).labels), name).toMatchObject(labelsOf(spec));
      for (const container of asList(asMap(template.spec).containers).map(asMap)) {
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
          expect(asMap(asMap(container[probe]).httpGet).port, `${name} ${probe}`).toBe('http');
        }
        expect(asMap(asMap(container.resources).limits).memory, name).toMatch(/^\d+[GM]i$/);
      }
    }
    const components = [...deployments.values()].map((spec) => labelsOf(spec)['app.kubernetes.io/component']);
    for (const service of named('Service').values()) {
      expect(components).toContain(asMap(service.selector)['app.kubernetes.io/component']);
    }
  });
});
