import { startSandbox } from './sandbox-server.ts';

// A sandbox in a process of its own, to be killed: node sandbox-process.ts <database url>
const [databaseUrl = ''] = process.argv.slice(2);
const server = await startSandbox({ databaseUrl });
process.stdout.write(`${server.url}\n`);
