import { createServer } from 'node:http';

export interface Outside {
  /** Settings of the service. */
  readonly env: Record<string, string>;
  /** Ids of the orders, repetitions included. */
  readonly orders: readonly string[];
  close(): void;
}

/** A fulfilment service that fails what ends in 0000, and a source of the rate: 20 pesos are a dollar. */
export async function startOutside(): Promise<Outside> {
  const orders: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/rate') return response.end('{"rate":"20"}');
      const { orderId, reference } = JSON.parse(text) as { orderId: string; reference: string };
      orders.push(orderId);
      const failed = { status: 'failed', reason: 'The number does not exist' };
      const completed = { status: 'completed', fileNumber: `F-${orderId.slice(-8)}` };
      return response.end(JSON.stringify(reference.endsWith('0000') ? failed : completed));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  return {
    env: {
      RATE_URL: `${origin}/rate`,
      FULFILMENT_URL: `${origin}/orders`,
      FULFILMENT_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    },
    orders,
    close: () => server.close(),
  };
}
