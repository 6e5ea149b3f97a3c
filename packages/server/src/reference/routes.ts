import { openApiDocument } from '@svc/protocol';
import type { FastifyInstance } from 'fastify';
import { referenceCsp, renderReference } from './page.ts';

/** The reference page: rendered once for each address that the service is known by. */
export function registerReference(app: FastifyInstance, publicUrl: () => string): void {
  let page: { url: string; html: string } | undefined;
  app.get('/docs', async (_, reply) => {
    const url = publicUrl();
    if (page?.url !== url)
      page = { url, html: renderReference(openApiDocument(`${url}/v1`), { baseUrl: `${url}/v1` }) };
    reply.header('content-security-policy', referenceCsp(page.html));
    return reply.type('text/html; charset=utf-8').send(page.html);
  });
}
