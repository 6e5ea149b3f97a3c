/** A command of a guide, or an example in JavaScript. */
export interface Step {
  readonly line: number;
  readonly language: 'sh' | 'js';
  readonly text: string;
}

const BLOCK = /^```(\w*)\n([\s\S]*?)^```/gm;
const INLINE = /`((?:docker|kubectl|systemctl|npm run|curl) [^`]+)`/g;

/** In the order of a reader: lines of shell blocks, examples, and commands inside sentences. */
export function stepsOf(markdown: string): Step[] {
  const lineAt = (index: number) => markdown.slice(0, index).split('\n').length;
  const steps = [...markdown.matchAll(BLOCK)].flatMap(({ 1: language, 2: code = '', index }): Step[] => {
    if (language === 'js') return [{ line: lineAt(index) + 1, language, text: code }];
    return language === 'sh' ? linesOf(code, lineAt(index) + 1) : [];
  });
  const prose = markdown.replaceAll(BLOCK, (block) => block.replaceAll(/[^\n]/g, ' '));
  const inline = [...prose.matchAll(INLINE)].map(({ 1: text = '', index }): Step => {
    return { line: lineAt(index), language: 'sh', text: text.replaceAll(/\s+/g, ' ') };
  });
  const isName = ({ text }: Step) => text.split(' ').length < 3 || steps.some((step) => step.text.startsWith(text));
  return [...steps, ...inline.filter((step) => !isName(step))].sort((one, other) => one.line - other.line);
}

function linesOf(code: string, first: number): Step[] {
  const joined = code.replaceAll(/\\\n\s*/g, '\0');
  let line = first;
  return joined.split('\n').flatMap((raw): Step[] => {
    const step = { line, language: 'sh', text: raw.replaceAll('\0', '').trim() } as const;
    line += 1 + (raw.match(/\0/g) ?? []).length;
    return step.text === '' || step.text.startsWith('#') ? [] : [step];
  });
}

/** What the test of the guides runs. `docker compose` is replaced by processes of this machine. */
export const runsHere =
  /^(git clone |npm run |deploy\/\S+\.sh$|mv |chmod |echo |printf |install |cp |cd |curl |docker compose )/;

export const cannotRunHere: readonly (readonly [command: RegExp, reason: string])[] = [
  [/^docker (build|buildx) /, 'there is no Docker: the file is linted, and what it copies and runs is checked'],
  [/^kubectl /, 'there is no cluster: manifests are checked by their schemas'],
  [/^useradd /, 'it changes the users of this machine'],
  [/^systemctl /, 'it changes the units of this machine: they are checked by systemd-analyze'],
];

export const isRunHere = ({ text }: Step): boolean => !cannotRunHere.some(([command]) => command.test(text));
