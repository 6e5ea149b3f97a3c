import { spawn } from 'node:child_process';
import { select, text } from '@clack/prompts';
import type { Command } from 'commander';
import { action, group, whole } from '../context.ts';
import { CliError, exitCodes, usage } from '../failure.ts';
import { findClone } from './dev.ts';

interface SetupOptions {
  readonly network?: string;
  readonly node?: string;
  readonly publicNode?: string;
  readonly publicUrl?: string;
  readonly accountClass?: string;
  readonly relayers: number;
  readonly strk: string;
  readonly usdc: string;
  readonly out: string;
  readonly check: boolean;
}

export function setupCommand(): Command {
  return group('setup', 'make, fund and deploy the accounts of a deployment, from a clone of the repository')
    .option('--network <name>', 'mainnet, sepolia or the path of a network file')
    .option('--node <urls>', 'your nodes, separated by commas')
    .option('--public-node <url>', 'a node without a key of yours, for clients')
    .option('--public-url <url>', 'the https:// address of the service')
    .option('--relayers <count>', 'relayer accounts to make', whole(1, 16), 1)
    .option('--strk <amount>', 'STRK to wait for on each relayer and on the manager', '60')
    .option('--usdc <amount>', 'USDC to wait for on the manager', '100')
    .option('--account-class <hash>', 'class of the accounts, where neither SVC nor READY is declared')
    .option('--out <folder>', 'where keys and settings go', 'svc-setup')
    .option('--no-check', 'do not start the service at the end')
    .addHelpText(
      'after',
      '\nRun it again after an interruption: it goes on with the same keys. Keys of your own come from\n' +
        'RELAYER_ACCOUNTS, MANAGER_ACCOUNT and PAYMENT_ACCOUNT, or from their _FILE variables.\n',
    )
    .action(
      action<SetupOptions>(async ({ out }, options) => {
        out.stop();
        const root = findClone(process.cwd()) ?? findClone(import.meta.dirname);
        if (root === undefined) throw usage('There is no clone of the svc repository here. Run this in its folder.');
        const asked = await askForMissing(options);
        const flags = Object.entries({
          network: asked.network,
          node: asked.node,
          'public-node': asked.publicNode,
          'public-url': options.publicUrl,
          'account-class': options.accountClass,
          relayers: String(options.relayers),
          strk: options.strk,
          usdc: options.usdc,
          out: options.out,
        }).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
        const script = [`${root}/scripts/run.mjs`, `${root}/scripts/setup/main.ts`, ...flags];
        const child = spawn(process.execPath, [...script, ...(options.check ? [] : ['--no-check'])], {
          stdio: 'inherit',
        });
        for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill(signal));
        const code = await new Promise<number | null>((resolve, reject) => {
          child.once('error', reject);
          child.once('exit', resolve);
        });
        if (code === null) throw new CliError('interrupted', 'Run it again to go on.', exitCodes.interrupted);
        if (code !== 0)
          throw new CliError('setup_incomplete', 'The setup is not complete: its message is above. Run it again.');
      }),
    );
}

async function askForMissing(
  options: SetupOptions,
): Promise<Required<Pick<SetupOptions, 'network' | 'node' | 'publicNode'>>> {
  const { network, node, publicNode } = options;
  if (network && node && publicNode) return { network, node, publicNode };
  if (process.stdin.isTTY !== true)
    throw usage('There is no terminal to ask at: give --network, --node and --public-node.');
  const networks = [
    { value: 'sepolia', label: 'Sepolia, the test network' },
    { value: 'mainnet', label: 'Mainnet, with real money' },
  ];
  const isUrl = (value: string | undefined) => (URL.canParse(value ?? '') ? undefined : 'It is an address: https://…');
  return {
    network: network ?? answered(await select({ message: 'Which network?', options: networks })),
    node: node ?? answered(await text({ message: 'Your node (JSON-RPC 0.9 or newer)?', validate: isUrl })),
    publicNode: publicNode ?? answered(await text({ message: 'A public node, for clients?', validate: isUrl })),
  };
}

function answered(answer: string | symbol): string {
  if (typeof answer === 'string') return answer;
  throw new CliError('cancelled', 'Nothing was changed.', exitCodes.interrupted);
}
