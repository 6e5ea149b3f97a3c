// Runs jobs for tests that kill it: `note` leaves a trace and ends, `hang` leaves one and never ends.
import { connect, sql } from '@svc/store';
import { startWorkers } from '../src/jobs/workers.ts';

const [url = '', concurrency = '4', timing = '{}', everySeconds] = process.argv.slice(2);
const db = connect(url, { max: 4, applicationName: 'svc test handlers' });
const trace = async ({ n }: { n: number }) => {
  await db.run(sql`insert into traces (n, pid) values (${n}, ${process.pid})`);
};

await startWorkers({
  url,
  concurrency: Number(concurrency),
  timing: JSON.parse(timing),
  log: { info() {}, warn() {}, error() {} },
  recurring: everySeconds === undefined ? [] : [{ task: 'tick', everySeconds: Number(everySeconds) }],
  handlers: {
    note: trace,
    tick: () => trace({ n: 0 }),
    hang: async (payload: { n: number }) => {
      await trace(payload);
      await new Promise(() => {});
    },
  },
});
// Ends with its parent.
process.on('disconnect', () => process.exit());
process.send?.('ready');
