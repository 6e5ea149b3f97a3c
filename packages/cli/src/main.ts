#!/usr/bin/env node
import { exitCodes } from './failure.ts';
import { run } from './run.ts';

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

process.exitCode = await run(process.argv.slice(2));
hasEnded = true;
