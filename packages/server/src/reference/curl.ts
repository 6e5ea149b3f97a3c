import { alsoInExample, exampleOf } from '@svc/protocol';
import type { Parameter, Schemas, Security } from './document.ts';
import type { Operation } from './operations.ts';

/** The request as a command to paste into a shell where PUBLIC_KEY and SECRET_KEY are set. */
export function curlOf(operation: Operation, schemas: Schemas, baseUrl: string): string {
  const lines = [`${commandOf(operation.method)} '${baseUrl}${exampleTarget(operation, schemas)}'`];
  for (const header of credentials(operation.security)) lines.push(`-H "${header}"`);
  if (operation.body) {
    const body = JSON.stringify(exampleOf(operation.body, schemas), null, 2);
    lines.push("-H 'content-type: application/json'", `-d ${singleQuoted(body)}`);
  }
  return lines.join(' \\\n  ');
}

const commandOf = (method: string): string => (method === 'GET' ? 'curl' : `curl -X ${method}`);

function exampleTarget(operation: Operation, schemas: Schemas): string {
  const value = (parameter: Parameter, qualifiers: readonly string[]) => {
    const names = [...qualifiers.map((qualifier) => `${qualifier}.${parameter.name}`), parameter.name];
    return encodeURIComponent(String(exampleOf(parameter.schema, schemas, names)));
  };
  const path = operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((target, parameter) => {
      const before = target.split(`/{${parameter.name}}`)[0]?.split('/').at(-1) ?? '';
      return target.replace(`{${parameter.name}}`, value(parameter, [operation.id, before]));
    }, operation.path);
  const extra = alsoInExample[operation.id] ?? [];
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && (parameter.required || extra.includes(parameter.name)))
    .map((parameter) => `${encodeURIComponent(parameter.name)}=${value(parameter, [operation.id])}`);
  return query.length > 0 ? `${path}?${query.join('&')}` : path;
}

const headers: Readonly<Record<string, string>> = {
  publicKey: 'x-api-key: $PUBLIC_KEY',
  bearer: 'Authorization: Bearer $SECRET_KEY',
  secretKey: 'Authorization: Bearer $SECRET_KEY',
};

/** Where either key will do, the secret one: an organisation can require it. */
function credentials(security: Security): string[] {
  const chosen = security.find((alternative) => 'secretKey' in alternative) ?? security[0] ?? {};
  return Object.keys(chosen).flatMap((scheme) => headers[scheme] ?? []);
}

export const singleQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
