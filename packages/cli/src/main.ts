#!/usr/bin/env node
import { CommanderError } from 'commander';
import colors from 'picocolors';
import manifest from '../package.json' with { type: 'json' };
import { exitCodes, explain } from './failure.ts';
import { clean } from './output.ts';
import { createProgram } from './program.ts';

let hasEnded = false;
/** Ctrl-C during a spinner ends the process with 0, which would look like success to a script. */
process.on('exit', () => {
  if (!hasEnded) process.exitCode = exitCodes.interrupted;
});

/** A reader such as `head` may close the pipe early. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  hasEnded = true;
  process.exit(error.code === 'EPIPE' ? exitCodes.ok : exitCodes.failed);
});

async function main(words: readonly string[]): Promise<number> {
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

process.exitCode = await main(process.argv.slice(2));
hasEnded = true;
