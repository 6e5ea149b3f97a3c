// The minimum of an app with wallets; `npm run size:sdk` measures it.
export { createClient, createWallet, transfer } from '../src/index.ts';
