import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface RateServer {
  readonly url: string;
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
}

/** A source on 127.0.0.1 that answers like this until the test ends. */
export async function startRateServer(answer: RequestListener): Promise<RateServer> {
  const requests: RateServer['requests'] = [];
  const server = createServer((request, response) => {
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

export function answering(body: string, contentType = 'application/json'): RequestListener {
  return (_request, response) => response.writeHead(200, { 'content-type': contentType }).end(body);
}

/** Answers in the forms of the real sources. */
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
