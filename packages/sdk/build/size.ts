// What the library adds to an app that creates wallets and sends, and what it is made of; and what all of it would add.
//
//   npm run size:sdk
import { measureSize, type Size } from './measure-size.ts';

const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;
const line = ({ minified, gzip, brotli }: Size) =>
  `minified ${kilobytes(minified)}, gzip ${kilobytes(gzip)}, brotli ${kilobytes(brotli)}`;

const least = await measureSize('first-wallet.ts');
console.log(`createClient + createWallet + transfer, all that they need included: ${line(least)}`);
console.log(`createSvc, with every operation: ${line(await measureSize('everything.ts'))}\n`);
console.log('What the first is made of, before minification:');
const total = least.shares.reduce((sum, [, bytes]) => sum + bytes, 0);
for (const [name, bytes] of least.shares) {
  console.log(
    `  ${name.padEnd(24)} ${kilobytes(bytes).padStart(9)}  ${((100 * bytes) / total).toFixed(1).padStart(5)} %`,
  );
}
