import { startCrypto } from '../../src/crypto/pool.ts';

// Never stops its threads. The timer keeps the process alive until the answer.
const timer = setInterval(() => undefined, 1_000);
const addresses = await startCrypto({ threads: 2 }).accountAddresses([1n], 2n);
console.log(addresses.length);
clearInterval(timer);
