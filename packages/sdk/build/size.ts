// Prints the library's size in an app that creates wallets and sends, its parts, and the size of the whole library.
//
//   npm run size:sdk
import { measureSize, type Size } from './measure-size.ts';

const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;
const line = ({ minified, gzip, brotli }: Size) =>
  `minified ${kilobytes(minified)}, gzip ${kilobytes(gzip)}, brotli ${kilobytes(brotli)}`;

const smallest = await measureSize('first-wallet.ts');
console.log(`createClient + createWallet + transfer with dependencies: ${line(smallest)}`);
console.log(`  and ${kilobytes(smallest.lazyGzip)} gzip when a secret is chosen`);
console.log(`createSvc, with every operation: ${line(await measureSize('everything.ts'))}\n`);
console.log('Parts of the first, before minification:');
const total = smallest.shares.reduce((sum, [, bytes]) => sum + bytes, 0);
for (const [name, bytes] of smallest.shares) {
  console.log(
    `  ${name.padEnd(24)} ${kilobytes(bytes).padStart(9)}  ${((100 * bytes) / total).toFixed(1).padStart(5)} %`,
  );
}
