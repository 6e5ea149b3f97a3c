import { type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TestServer {
  readonly port: number;
  readonly sockets: readonly Socket[];
  /** Resolves once there was a connection and the other side has closed every one. */
  closed(): Promise<void>;
}

/** A TCP server on 127.0.0.1 that ends with the test. */
export function startTestServer(speak: (socket: Socket) => void): Promise<TestServer> {
  return listen(createServer((socket) => speak(socket)));
}

export async function listen(server: Server): Promise<TestServer> {
  const sockets: Socket[] = [];
  server.prependListener('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const closed = async () => {
    if (sockets.length === 0) await once(server, 'connection');
    await Promise.all(sockets.map(closing));
  };
  return { port: (server.address() as AddressInfo).port, sockets, closed };
}

function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    socket.on('close', () => resolve()).resume();
  });
}

export function answering(answer: string): (socket: Socket) => void {
  return (socket) => socket.once('data', () => socket.end(answer));
}

export interface RateServer {
  readonly url: string;
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
}

/** An HTTP server on 127.0.0.1 that ends with the test. */
export async function startRateServer(answer: RequestListener): Promise<RateServer> {
  const requests: RateServer['requests'] = [];
  const server = createHttpServer((request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests };
}

export function answeringBody(body: string, contentType = 'application/json'): RequestListener {
  return (_request, response) => response.writeHead(200, { 'content-type': contentType }).end(body);
}

/** In the formats of the real sources. */
export const samples = {
  operator: (rate: string) => `{"rate": ${rate}}`,
  banxico: (rate: string, date = '17/07/2026') =>
    JSON.stringify({
      bmx: {
        series: [
          {
            idSerie: 'SF43718',
            titulo: 'Tipo de cambio Pesos por dólar E.U.A. Fecha de determinación (FIX)',
            datos: [{ fecha: date, dato: rate }],
          },
        ],
      },
    }),
  frankfurter: (rate: string, date = '2026-07-17') => `{"date":"${date}","base":"USD","quote":"MXN","rate":${rate}}`,
  ecb: (mxn: string, usd: string, date = '2026-07-17') => `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"
	xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender>
		<gesmes:name>European Central Bank</gesmes:name>
	</gesmes:Sender>
	<Cube>
		<Cube time='${date}'>
			<Cube currency='USD' rate='${usd}'/>
			<Cube currency='JPY' rate='171.32'/>
			<Cube currency='MXN' rate='${mxn}'/>
			<Cube currency='ZAR' rate='20.4512'/></Cube>
	</Cube>
</gesmes:Envelope>`,
};

/** An X.509 certificate, without the help of another program. */
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
