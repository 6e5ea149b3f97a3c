// Shows the example app. The service runs beside it: `npm start` in another terminal.
//
//   npm run example
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Credentials, startExample } from './example-server.ts';

const { SVC_DATA_DIR = path.resolve(import.meta.dirname, '../../../.svc') } = process.env;

const text = await readFile(path.join(SVC_DATA_DIR, 'credentials.json'), 'utf8').catch(() => undefined);
if (text === undefined) {
  console.error('No credentials yet. Start the service first, in another terminal: npm start');
  process.exit(1);
}
const { url, stop } = await startExample(JSON.parse(text) as Credentials);
console.log(`\n  The example is at ${url}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
