import { createCipheriv, createHash, randomBytes } from 'node:crypto';

/** OpenSSL's passphrase format, by Node's OpenSSL. */
export function oldFormat(plaintext: string, passphrase: string, salt = randomBytes(8)): string {
  let derived = Buffer.alloc(0);
  for (let last = derived; derived.length < 48; derived = Buffer.concat([derived, last])) {
    last = createHash('md5').update(last).update(passphrase).update(salt).digest();
  }
  const cipher = createCipheriv('aes-256-cbc', derived.subarray(0, 32), derived.subarray(32, 48));
  return Buffer.concat([Buffer.from('Salted__'), salt, cipher.update(plaintext), cipher.final()]).toString('base64');
}
