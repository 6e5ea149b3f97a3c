import { CommanderError } from 'commander';
import colors from 'picocolors';
import manifest from '../package.json' with { type: 'json' };
import { exitCodes, explain } from './failure.ts';
import { clean } from './output.ts';
import { createProgram } from './program.ts';

/** Answers the exit code. */
export async function run(words: readonly string[]): Promise<number> {
  const isJson = words.includes('--json');
  try {
    await createProgram(manifest.version).parseAsync([...words], { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    // Help and version are thrown too, once they are printed.
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok;
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage;
    const { code, message, exitCode, requestId } = explain(error);
    const trace = requestId === undefined ? '' : colors.dim(` (request ${requestId})`);
    const text = isJson
      ? JSON.stringify({ error: code, message, ...(requestId && { requestId }) })
      : `${colors.red('error')}  ${message.split('\n').map(clean).join('\n')}${trace}`;
    process.stderr.write(`${text}\n`);
    return exitCode;
  }
}
