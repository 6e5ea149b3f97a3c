import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { SHARED_SETTINGS, type SharedService, TestService } from './service.ts';

/** Starts the shared service when the first test file asks for it, and ends it with the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let service: Promise<TestService> | undefined;
  const server = createServer(async (_, response) => {
    try {
      service ??= TestService.start(SHARED_SETTINGS);
      const { database, server } = await service;
      const { origin, credentials, outputFile } = server;
      const shared: SharedService = { databaseUrl: database.url, outputFile, origin, credentials };
      response.end(JSON.stringify(shared));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('sharedServiceUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return async () => {
    server.close();
    await (await service?.catch(() => undefined))?.stop();
  };
}
