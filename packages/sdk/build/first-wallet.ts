// The least that an app with wallets imports; its size is what `npm run size:sdk` measures.
export { createClient, createWallet, transfer } from '../src/index.ts';
