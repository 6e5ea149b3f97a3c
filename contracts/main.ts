// Compiles and tests the wallet's contract (build/main.ts), or checks the committed classes with a network's compiler.
//
//   npm run contracts -- --verify-casm      compiles both committed classes to CASM
import { verifyCasm } from './casm/verify.ts';

if (process.argv.includes('--verify-casm')) {
  await verifyCasm()
    .then((lines) => console.log(lines.join('\n')))
    .catch((error: unknown) => {
      console.error(error instanceof Error ? error.message : error);
      process.exitCode = 1;
    });
} else {
  await import('./build/main.ts');
}
