import { Command } from 'commander';
import { keysCommand, settingsCommand } from './commands/configuration.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { giftsCommand } from './commands/gifts.ts';
import { listenCommand } from './commands/listen.ts';
import { eventsCommand, logsCommand, transactionsCommand, walletsCommand } from './commands/lists.ts';
import { operatorCommand } from './commands/operator.ts';
import { faucetCommand, sandboxCommand, timeCommand } from './commands/sandbox.ts';
import { setupCommand } from './commands/setup.ts';
import { statusCommand } from './commands/status.ts';
import { triggerCommand } from './commands/trigger.ts';
import { completionCommand } from './completion.ts';

const FOOTER = `
Credentials come from flags, from SVC_BASE_URL, SVC_PUBLIC_KEY and SVC_SECRET_KEY, or from
credentials.json of the nearest .svc folder. A key in a flag is visible to other users of the machine.

Exit codes: 0 done, 1 refused or failed, 2 wrong use, 3 service not reachable, 130 interrupted.
`;

export function createProgram(version: string): Command {
  const program = new Command('svc')
    .description('The command line of svc: wallets, payments and gift codes that you run yourself')
    .version(version, '-v, --version')
    .option('--json', 'answer in JSON')
    .option('--base-url <url>', 'the service, such as https://svc.example/v1')
    .option('--public-key <key>', 'pk_…')
    .option('--secret-key <key>', 'sk_…')
    .option('--data-dir <folder>', 'data folder of a local service, which has credentials.json')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', FOOTER);
  const commands = [
    devCommand(),
    setupCommand(),
    doctorCommand(),
    statusCommand(),
    walletsCommand(),
    transactionsCommand(),
    giftsCommand(),
    eventsCommand(),
    listenCommand(),
    triggerCommand(),
    logsCommand(),
    keysCommand(),
    settingsCommand(),
    faucetCommand(),
    timeCommand(),
    sandboxCommand(),
    operatorCommand(),
    completionCommand(() => program),
  ];
  for (const command of commands) program.addCommand(command);
  for (const command of everyCommand(program)) {
    command
      .exitOverride()
      .showSuggestionAfterError(true)
      .configureOutput({ outputError: () => {} });
    command.configureHelp({ showGlobalOptions: true });
  }
  return program;
}

export const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap(everyCommand)];
