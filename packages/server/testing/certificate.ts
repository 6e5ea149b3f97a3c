import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface Certificate {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

const ECDSA_WITH_SHA256 = oid('06082a8648ce3d040302');
const COMMON_NAME = oid('0603550403');
const SUBJECT_ALT_NAME = oid('0603551d11');
const LOOPBACK = Buffer.from([127, 0, 0, 1]);

/** Of 127.0.0.1, signed by itself: to trust it is to trust no other certificate. */
export function selfSigned(name: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const algorithm = sequence(ECDSA_WITH_SHA256);
  const subject = sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(name)))));
  const names = sequence(SUBJECT_ALT_NAME, tagged(0x04, sequence(tagged(0x87, LOOPBACK))));
  const content = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    subject,
    sequence(tagged(0x17, Buffer.from('250101000000Z')), tagged(0x17, Buffer.from('491231235959Z'))),
    subject,
    publicKey,
    tagged(0xa3, sequence(names)),
  );
  const signature = sign('sha256', content, createPrivateKey(privateKey));
  const der = sequence(content, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey,
  };
}

function oid(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

function tagged(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}
