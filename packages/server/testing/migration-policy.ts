/** First line of a migration that the version before cannot work with. */
const CONTRACTS = /^-- Contracts: \S/;

interface Statement {
  readonly text: string;
  /** Of tables that this file creates: no process knows them yet. */
  readonly isNew: boolean;
}

type Rule = readonly [pattern: RegExp, problem: string];

const rules: readonly Rule[] = [
  [/\bdrop\s+(table|column|view|materialized view|function|type|schema|sequence|trigger)\b/, 'removes something'],
  [/\brename\b/, 'renames something'],
  [/\balter\s+(column\s+)?\S+\s+(set\s+data\s+)?type\b/, 'changes the type of a column'],
  [/\bset\s+not\s+null\b/, 'makes a column required'],
  [/\bdrop\s+default\b/, 'removes a default'],
  [/\bcreate\s+unique\s+index\b/, 'makes values unique that were not'],
  [/\badd\s+(constraint\s+\S+\s+)?(unique|primary key|exclude|foreign key)\b/, 'adds a constraint'],
  [/\b(truncate|lock\s+table)\b/, 'blocks or empties a table'],
];

/** What a process of the version before would not survive; nothing for a migration that only expands. */
export function contractionsIn(migration: string): string[] {
  if (CONTRACTS.test(migration)) return [];
  return statementsOf(migration)
    .filter(({ isNew }) => !isNew)
    .flatMap(({ text }) => [
      ...rules.filter(([pattern]) => pattern.test(text)).map(([, problem]) => `${problem}: ${text}`),
      ...requiredColumns(text),
      ...narrowedChecks(text, migration),
    ]);
}

function requiredColumns(text: string): string[] {
  return text
    .split(/,(?![^(]*\))/)
    .filter((part) => /\badd\s+(column\s+)?(?!constraint\b)/.test(part) && /\bnot\s+null\b/.test(part))
    .filter((part) => !/\b(default|generated)\b/.test(part))
    .map((part) => `adds a required column without a default: ${part.trim()}`);
}

/** A check is widened by dropping it and adding it again; a new one on an old table refuses rows of the old version. */
function narrowedChecks(text: string, migration: string): string[] {
  const names = (action: string, source: string) =>
    [...source.matchAll(new RegExp(`\\b${action}\\s+constraint\\s+(?:if exists\\s+)?([\\w"]+)`, 'g'))].map(
      ([, name]) => name,
    );
  const all = plain(migration);
  const [added, dropped] = [names('add', all), names('drop', all)];
  return [
    ...names('drop', text)
      .filter((name) => !added.includes(name))
      .map((name) => `removes constraint ${name}: ${text}`),
    ...names('add', text)
      .filter((name) => !dropped.includes(name))
      .map((name) => `adds constraint ${name}: ${text}`),
  ];
}

function statementsOf(migration: string): Statement[] {
  const all = plain(migration)
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  const created = new Set(all.flatMap((text) => /^create\s+table\s+(?:if not exists\s+)?(\S+)/.exec(text)?.[1] ?? []));
  return all.map((text) => {
    const target = /^(?:alter\s+table|create\s+(?:unique\s+)?index.*?\bon)\s+(?:only\s+)?([\w."]+)/.exec(text)?.[1];
    return { text, isNew: text.startsWith('create table') || (target !== undefined && created.has(target)) };
  });
}

/** Lower case, without comments, texts and bodies of functions. */
function plain(migration: string): string {
  return migration
    .replace(/--.*$/gm, '')
    .replace(/(\$\w*\$)[\s\S]*?\1/g, "''")
    .replace(/'(?:[^']|'')*'/g, "''")
    .replace(/\s+/g, ' ')
    .toLowerCase();
}
