import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createMember, createOperator, createSvc } from '@svc/sdk';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';
import manifest from '../../packages/sdk/package.json' with { type: 'json' };

const sdk = path.resolve(import.meta.dirname, '../../packages/sdk');

/** `value name` or `type name` for every export of a source file. */
function exportsOf(file: string): string[] {
  const { errors, module } = parseSync(file, readFileSync(file, 'utf8'));
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  return module.staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ exportName, isType, moduleRequest }) => {
      if (exportName.name !== null) return [`${isType ? 'type' : 'value'} ${exportName.name}`];
      return exportsOf(path.resolve(file, '..', moduleRequest?.value ?? ''));
    });
}

/** `operation gifts.createGift` for every function of an object and of the objects in it. */
function operationsOf(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'function' ? [`operation ${prefix}${name}`] : operationsOf(member, `${prefix}${name}.`),
  );
}

/** Update the list with `vitest run tests/sdk/public-surface.test.ts --update`; its diff belongs in the changelog. */
describe('the public surface of the client library', () => {
  const entries = Object.entries(manifest.exports).map(([name, target]) => ({ name, file: path.join(sdk, target) }));

  it('is the committed list of entry points, exports and operations', async () => {
    const svc = createSvc({ baseUrl: 'https://svc.example/v1', publicKey: 'pk_dev_1' });
    const exported = entries.flatMap(({ name, file }) => [`entry ${name}`, ...exportsOf(file).sort()]);
    const operator = createOperator({ baseUrl: 'https://svc.example/v1', operatorToken: 'op' });
    const member = createMember({ baseUrl: 'https://svc.example/v1', sessionToken: 'x'.repeat(43) });
    const others = [...operationsOf({ operator }), ...operationsOf({ member })];
    const lines = [...exported, ...operationsOf(svc).sort(), ...others.sort()];
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('public-surface.txt');
  });

  it.each(entries)('lists exactly the values that $name has at run time', async ({ file }) => {
    const values = exportsOf(file).filter((line) => line.startsWith('value '));
    expect(values.sort()).toEqual(
      Object.keys(await import(file))
        .map((name) => `value ${name}`)
        .sort(),
    );
  });
});
