import { connect, type Db } from '@svc/store';
import { EvmChains } from '../src/evm/chains.ts';

// Sends one transaction to BASE and kills itself right before or after it is stored.
const [url = '', moment, raw] = process.argv.slice(2);
const die = () => process.kill(process.pid, 'SIGKILL');
const db = connect(url);

const dying: Db = {
  ...db,
  tx: async (work) => {
    const result = await db.tx(async (tx) => {
      const done = await work(tx);
      if (moment === 'before it is stored') die();
      return done;
    });
    if (moment === 'after it is stored') die();
    return result;
  },
};

const request = { jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [raw] };
await new EvmChains(dying).node('BASE').handle(request);
process.exitCode = 1;
