import { startCrypto } from '../../src/crypto/pool.ts';

// A process that forgets to stop the threads. The timer keeps it until it has its answer.
const timer = setInterval(() => undefined, 1_000);
const addresses = await startCrypto({ threads: 2 }).accountAddresses([1n], 2n);
console.log(addresses.length);
clearInterval(timer);
