import { startSandbox } from './sandbox-server.ts';

// A sandbox in a process that tests can kill: node sandbox-process.ts <database url>
const [databaseUrl = ''] = process.argv.slice(2);
const server = await startSandbox({ databaseUrl, thread: true });
process.stdout.write(`${server.url}\n`);
