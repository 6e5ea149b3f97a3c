import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Example {
  readonly place: string;
  readonly code: string;
}

/** Every `@example` of the doc comments in a folder, up to the next tag or the end of the comment. */
export function readExamples(folder: string): Example[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !/[/\\]testing[/\\]/.test(file))
    .sort()
    .flatMap((file) => examplesIn(file, readFileSync(path.join(folder, file), 'utf8')));
}

function examplesIn(file: string, text: string): Example[] {
  return [...text.matchAll(/\/\*\*[\s\S]*?\*\//g)].flatMap(({ 0: comment, index }) =>
    [...comment.matchAll(/^ *\* @example\b([\s\S]*?)(?=^ *\* @\w|\*\/)/gm)].map((found) => ({
      place: `${file}:${text.slice(0, index + found.index).split('\n').length}`,
      code: (found[1] ?? '').replaceAll(/^ *\* ?/gm, '').trim(),
    })),
  );
}

export function readBlocks(markdown: string, language: string): Example[] {
  const blocks = markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'));
  return [...blocks].map(({ 1: code = '', index }) => ({
    place: `line ${markdown.slice(0, index).split('\n').length}`,
    code,
  }));
}
