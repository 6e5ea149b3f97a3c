/** The commands and files of a guide, as a reader copies them. */
export interface Guide {
  /** A block of shell commands: one terminal, by the number of its step and its place in it. */
  commands(step: number, place?: number): string;
  /** Files of a step by path. A file's block begins with a comment that names it. */
  files(step: number): ReadonlyMap<string, string>;
}

interface Block {
  readonly step: number;
  readonly language: string;
  readonly code: string;
}

const NAMED_FILE = /^\/\/ ([\w./-]+)\n/;

export function readGuide(markdown: string): Guide {
  const blocks = [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: language = '', 2: code = '', index }): Block => ({ step: stepAt(markdown, index), language, code }),
  );
  const inStep = (step: number) => blocks.filter((block) => block.step === step);
  return {
    commands(step, place = 0) {
      const { code } = inStep(step).filter(({ language }) => language === 'sh')[place] ?? {};
      if (code === undefined) throw new Error(`Step ${step} of the guide has no commands at place ${place}.`);
      return code;
    },
    files(step) {
      const named = inStep(step).flatMap(({ code }): [string, string][] => {
        const [comment, file] = NAMED_FILE.exec(code) ?? [];
        return comment === undefined || file === undefined ? [] : [[file, code.slice(comment.length)]];
      });
      if (named.length === 0) throw new Error(`Step ${step} of the guide has no files.`);
      return new Map(named);
    },
  };
}

/** The number of the last heading such as `## 2. Make an app` above a place; 0 before the first. */
function stepAt(markdown: string, index: number): number {
  const headings = [...markdown.slice(0, index).matchAll(/^## (\d*)/gm)];
  return Number(headings.at(-1)?.[1] || 0);
}

/** Replaces what a reader fills in. Each must be there, so that a guide that changes is noticed. */
export function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((filled, [from, to]) => {
    if (!filled.includes(from)) throw new Error(`The guide no longer says ${from} here: ${text}`);
    return filled.replaceAll(from, () => to);
  }, text);
}
