import { type KeyObject, sign } from 'node:crypto';

/** An X.509 certificate in DER, put together by hand so that the test needs no other program. */
export function selfSigned(key: KeyObject, publicPart: KeyObject, dnsName: string, ip: readonly number[]): string {
  const algorithm = der(0x30, oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)); // ecdsa-with-SHA256
  const name = der(0x30, der(0x31, der(0x30, oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(dnsName)))));
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const names = der(0x30, der(0x82, Buffer.from(dnsName)), der(0x87, Buffer.from(ip)));
  const subjectAltName = der(0x30, oid(0x55, 0x1d, 0x11), der(0x04, names));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    validity,
    name,
    publicPart.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, subjectAltName)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, key));
  const base64 = der(0x30, body, algorithm, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}

function oid(...bytes: number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function der(tag: number, ...deps: Uint8Array[]): Buffer {
  const content = Buffer.concat(deps);
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
