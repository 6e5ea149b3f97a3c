/** A request as the page's curl command shows it. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
}

/** Reads the commands that the reference itself writes. */
export function readCurl(command: string): ShownRequest | undefined {
  const target = /^curl(?: -X ([A-Z]+))? '([^']+)'/.exec(command);
  if (!target) return undefined;
  const [, method = 'GET', url = ''] = target;
  const headers = [...command.matchAll(/ -H (?:"([^"]*)"|'([^']*)')/g)].flatMap(([, double, single]) => {
    const [name = '', value = ''] = (double ?? single ?? '').split(/: (.*)/s);
    return name === '' ? [] : [[name.toLowerCase(), value] as const];
  });
  const data = command.indexOf(" -d '");
  const body = data < 0 ? undefined : command.slice(data + " -d '".length, -1).replaceAll("'\\''", "'");
  return { method, url, headers, body };
}

export const snippetLanguages = { curl: 'curl', typescript: 'TypeScript', python: 'Python', go: 'Go' } as const;
export type SnippetLanguage = keyof typeof snippetLanguages;

export function snippetOf(language: SnippetLanguage, command: string): string {
  const request = readCurl(command);
  if (!request || language === 'curl') return command;
  return { typescript, python, go }[language](request);
}

/** `Bearer $SECRET_KEY` in pieces: text, and names of variables. */
const pieces = (value: string) => value.split(/(\$[A-Z_]+)/).filter((piece) => piece !== '');
const isVariable = (piece: string) => piece.startsWith('$');
const indent = (text: string, by: string) => text.replaceAll('\n', `\n${by}`);

/** In Node. */
const variableOf = (name: string) => ['process', 'env', name].join('.');

function typescript({ method, url, headers, body }: ShownRequest): string {
  const text = (value: string) =>
    pieces(value).some(isVariable)
      ? `\`${value.replace(/\$([A-Z_]+)/g, (_, name: string) => `\${${variableOf(name)}}`)}\``
      : `'${value}'`;
  const lines = [`const response = await fetch('${url}', {`];
  if (method !== 'GET') lines.push(`  method: '${method}',`);
  lines.push('  headers: {', ...headers.map(([name, value]) => `    '${name}': ${text(value)},`), '  },');
  if (body !== undefined) lines.push(`  body: JSON.stringify(${indent(body, '  ')}),`);
  return [...lines, '});', 'console.log(response.status, await response.json());'].join('\n');
}

function python({ method, url, headers, body }: ShownRequest): string {
  const text = (value: string) =>
    pieces(value)
      .map((piece) => (isVariable(piece) ? `os.environ["${piece.slice(1)}"]` : JSON.stringify(piece)))
      .join(' + ');
  const lines = [
    'import os',
    'import requests',
    '',
    `response = requests.request(`,
    `    "${method}",`,
    `    "${url}",`,
  ];
  const sent = headers.filter(([name]) => name !== 'content-type');
  lines.push('    headers={', ...sent.map(([name, value]) => `        "${name}": ${text(value)},`), '    },');
  if (body !== undefined) lines.push(`    json=${indent(pythonOf(body), '    ')},`);
  return [...lines, ')', 'print(response.status_code, response.json())'].join('\n');
}

/** Outside of texts, JSON's three words have other names. */
const pythonOf = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) => {
    const names: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
    return names[token] ?? token;
  });

function go({ method, url, headers, body }: ShownRequest): string {
  const text = (value: string) =>
    pieces(value)
      .map((piece) => (isVariable(piece) ? `os.Getenv("${piece.slice(1)}")` : JSON.stringify(piece)))
      .join(' + ');
  const reader = body === undefined ? 'nil' : 'body';
  const packages = ['fmt', 'io', 'net/http', 'os', ...(body === undefined ? [] : ['strings'])];
  const given = body === undefined ? [] : [`\tbody := strings.NewReader(${quotedGo(body)})`];
  return [
    'package main',
    '',
    'import (',
    ...packages.map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    ...given,
    `\trequest, _ := http.NewRequest("${method}", "${url}", ${reader})`,
    ...headers.map(([name, value]) => `\trequest.Header.Set("${name}", ${text(value)})`),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    '\ttext, _ := io.ReadAll(response.Body)',
    '\tfmt.Println(response.StatusCode, string(text))',
    '}',
  ].join('\n');
}

const quotedGo = (text: string): string => (text.includes('`') ? JSON.stringify(text) : `\`${text}\``);
