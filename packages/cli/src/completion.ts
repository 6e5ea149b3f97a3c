import { Argument, type Command } from 'commander';
import { action, group } from './context.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

export function completionCommand(program: () => Command): Command {
  return group('completion', 'print the completion script of a shell')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText(
      'after',
      `
To install it:
  bash   svc completion bash > ~/.local/share/bash-completion/completions/svc
  zsh    svc completion zsh > "\${fpath[1]}/_svc"
  fish   svc completion fish > ~/.config/fish/completions/svc.fish
`,
    )
    .action(
      action(async ({ out }, _, shell) => {
        const script = completionScript(program(), shell as Shell);
        out.answer({ shell, script }, () => script);
      }),
    );
}

interface Suggestion {
  readonly word: string;
  readonly description: string;
}

/** What can follow a path of commands, such as `gifts import`. */
export interface Step {
  readonly path: string;
  readonly words: readonly Suggestion[];
}

export function completionSteps(program: Command): Step[] {
  const globals = program.options;
  const visit = (command: Command, path: string): Step[] => {
    const own = command === program ? [] : [...command.options, ...defaultOf(command)];
    const words = [
      ...command.commands.map((one) => ({ word: one.name(), description: one.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
        argChoices.map((word) => ({ word, description })),
      ),
      ...[...own, ...globals].map(({ long, short, description }) => ({ word: long ?? short ?? '', description })),
      { word: '--help', description: 'show help' },
    ];
    return [{ path, words }, ...command.commands.flatMap((one) => visit(one, `${path} ${one.name()}`.trim()))];
  };
  return visit(program, '');
}

/** `svc wallets` lists, so the options of its list follow it. */
const defaultOf = ({ commands }: Command) => commands[0]?.options.filter(() => isList(commands[0]?.name())) ?? [];
const isList = (name: string | undefined) => name === 'list' || name === 'show';

export function completionScript(program: Command, shell: Shell): string {
  const steps = completionSteps(program);
  return { bash, zsh, fish }[shell](steps);
}

/** Words that begin with a dash are no commands; the value of an option is taken for one only if it is one. */
const bash = (steps: readonly Step[]) => `# bash completion of svc
_svc_words() {
  case "$1" in
${steps.map(({ path, words }) => `    ${quote(path)}) echo ${quote(words.map(({ word }) => word).join(' '))} ;;`).join('\n')}
    *) return 1 ;;
  esac
}
_svc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ "$word" == -* ]] && continue
    _svc_words "\${path:+$path }$word" >/dev/null && path="\${path:+$path }$word"
  done
  COMPREPLY=($(compgen -W "$(_svc_words "$path")" -- "$current"))
}
complete -o default -F _svc svc
`;

const zsh = (steps: readonly Step[]) => `#compdef svc
_svc_words() {
  case "$1" in
${steps
  .map(({ path, words }) => {
    const described = words.map(({ word, description }) => quote(`${word.replaceAll(':', '\\:')}:${description}`));
    return `    ${quote(path)}) reply=(${described.join(' ')}) ;;`;
  })
  .join('\n')}
    *) return 1 ;;
  esac
}
_svc() {
  local -a reply
  local path_of="" word
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    [[ "$word" == -* ]] && continue
    _svc_words "\${path_of:+$path_of }$word" && path_of="\${path_of:+$path_of }$word"
  done
  _svc_words "$path_of"
  _describe 'svc' reply
  _files
}
[[ "$funcstack[1]" == _svc ]] && _svc "$@" || compdef _svc svc
`;

const fish = (steps: readonly Step[]) => `# fish completion of svc
function __svc_path
  set -l path
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; and continue
    contains -- (string join ' ' $path $word) $__svc_paths; and set path $path $word
  end
  string join ' ' $path
end
set -g __svc_paths ${steps.map(({ path }) => quote(path)).join(' ')}
${steps
  .flatMap(({ path, words }) => {
    const when = quote(`test (__svc_path | string collect -a) = "${path}"`);
    return words.map(({ word, description }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${quote(word)}`;
      return `complete -c svc -n ${when} ${what} -d ${quote(description)}`;
    });
  })
  .join('\n')}
`;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
