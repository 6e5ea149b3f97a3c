import type { Schema, Schemas } from '@svc/protocol';

export { referredName, type Schema, type Schemas } from '@svc/protocol';

/** The fields of an OpenAPI 3.1 document that the page uses. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Schemas };
}

const parts = ['info', 'tags', 'paths', 'components'] as const satisfies (keyof OpenApi)[];
const isOpenApi = (document: object): document is OpenApi => parts.every((part) => part in document);

export function readDocument(document: object): OpenApi {
  if (!isOpenApi(document)) throw new TypeError('The document is not an OpenAPI document.');
  return document;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

/** Alternatives, each a set of schemes that are required together. */
export type Security = readonly Readonly<Record<string, unknown>>[];

interface Content {
  readonly 'application/json'?: { readonly schema: Schema };
  readonly 'text/event-stream'?: { readonly schema: Schema };
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: Security;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly planned: boolean; // answers 501
  readonly security: Security;
  readonly parameters: readonly Parameter[];
  readonly body?: Schema;
  readonly answers: readonly Answer[];
  readonly errors: readonly OperationError[];
}

export interface Answer {
  readonly status: string;
  readonly description: string;
  readonly schema?: Schema;
}

export interface OperationError {
  readonly status: string;
  readonly code: string;
  readonly meaning: string;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const FIRST_ERROR_STATUS = 400;

export function operationsOf(document: OpenApi): Operation[] {
  const paths = Object.keys(document.paths).sort();
  return paths.flatMap((path) => METHODS.flatMap((method) => readOperation(document, path, method)));
}

function readOperation(document: OpenApi, path: string, method: string): Operation[] {
  const operation = document.paths[path]?.[method];
  if (!operation) return [];
  const answers = Object.entries(operation.responses).map(([status, response]) => ({
    status,
    description: response.description,
    ...schemaOf(response.content),
  }));
  const body = schemaOf(operation.requestBody?.content).schema;
  return [
    {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      tag: operation.tags[0] ?? '',
      summary: operation.summary,
      description: withoutMark(operation.description ?? ''),
      planned: '501' in operation.responses,
      security: operation.security,
      parameters: operation.parameters,
      ...(body && { body }),
      answers: answers.filter((answer) => Number(answer.status) < FIRST_ERROR_STATUS),
      errors: answers.filter((answer) => Number(answer.status) >= FIRST_ERROR_STATUS).flatMap(errorsOfStatus),
    },
  ];
}

/** The page has a badge for planned operations instead of the sentence. */
const withoutMark = (description: string): string => description.replace(/(^|\n\n)\*\*Not built yet:\*\*.*$/, '');

/** The document has a paragraph for each error of a status: `code`: meaning. */
function errorsOfStatus({ status, description }: Answer): OperationError[] {
  return description.split(/\n{2,}/).map((paragraph) => {
    const [, code = '', meaning = paragraph] = /^`([a-z0-9_]+)`: (.*)$/s.exec(paragraph) ?? [];
    return { status, code, meaning };
  });
}

function schemaOf(content: Content | undefined) {
  const { schema } = content?.['application/json'] ?? content?.['text/event-stream'] ?? {};
  return schema ? { schema } : {};
}
