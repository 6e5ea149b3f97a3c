import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnyService, TestService } from '../support/service.ts';
import { runSvc, startSvc, svcEnv } from './support/run-svc.ts';

let service: AnyService;
let folder: string;
beforeAll(async () => {
  service = await TestService.shared();
  folder = mkdtempSync(path.join(tmpdir(), 'svc-cli-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service.stop();
});

const svc = (words: readonly string[], changes: Record<string, string> = {}) =>
  runSvc(words, { env: { ...svcEnv(service.server), ...changes }, cwd: folder });

/** Forwards everything, and loses the answers of all bulk creations but the first. */
async function losingAnswers(origin: string): Promise<Server> {
  let bulk = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const answer = await fetch(origin + request.url, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    if (request.url?.endsWith('/gifts/bulk') && ++bulk > 1) return response.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describe('gifts from the terminal', () => {
  it('are created with a code of their own or a random one', async () => {
    const words = ['gifts', 'create', '--name', 'One', '--amount', '2.5', '--redeems', '3', '--json'];
    const { stdout } = await startSvc(words, { env: svcEnv(service.server), cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({
      amount: '2.5',
      maxRedeems: 3,
      code: expect.stringMatching(/^[A-Z]{8}$/),
    });
  });

  it('of an import whose answer was lost go to everybody once, when it is run again', async () => {
    writeFileSync(path.join(folder, 'team.csv'), 'email,amount\na@example.com,1\nb@example.com,2\nc@example.com,1\n');
    const proxy = await losingAnswers(service.server.origin);
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/v1`;
    const interrupted = await svc(['gifts', 'import', 'team.csv', '--yes'], { SVC_BASE_URL: address });
    proxy.closeAllConnections();
    proxy.close();
    expect(interrupted).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/2 gifts were created, then it stopped/),
    });
    expect(interrupted.stderr).toMatch(/Run the same command again/);

    const finished = await svc(['gifts', 'import', 'team.csv', '--yes', '--json']);
    expect(JSON.parse(finished.stdout)).toMatchObject({ created: 3, totalUsd: '4', alreadyDone: false });
    const again = await svc(['gifts', 'import', 'team.csv', '--yes', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ created: 3, alreadyDone: true });

    const codes = path.join(folder, 'team.codes.csv');
    const rows = readFileSync(codes, 'utf8').trim().split('\r\n').slice(1);
    expect(rows.map((row) => row.split(',')[0])).toEqual(['a@example.com', 'b@example.com', 'c@example.com']);
    expect(statSync(codes).mode & 0o777).toBe(0o600);
    const listed = JSON.parse((await svc(['gifts', '--campaign', 'team', '--json'])).stdout) as { code: string }[];
    expect(listed.map(({ code }) => code).sort()).toEqual(rows.map((row) => row.split(',')[1]).sort());
  });

  it('are not created from a file with a mistake, or without a yes', async () => {
    writeFileSync(path.join(folder, 'wrong.csv'), 'email\na@example.com\nnobody\n');
    const wrong = await svc(['gifts', 'import', 'wrong.csv', '--amount', '1', '--yes']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/line 3: nobody is no e-mail address/) });
    writeFileSync(path.join(folder, 'right.csv'), 'email\na@example.com\n');
    expect((await svc(['gifts', 'import', 'right.csv', '--amount', '1'])).code).toBe(2);
    expect((await svc(['gifts', 'import', 'right.csv', '--amount', '1', '--dry-run'])).code).toBe(0);
    writeFileSync(path.join(folder, 'spanish.csv'), 'email,language\na@example.com,es\n');
    const shown = await svc(['gifts', 'import', 'spanish.csv', '--amount', '1', '--dry-run']);
    expect(shown).toMatchObject({ code: 0, stderr: expect.stringMatching(/a@example\.com .* es\b/) });
    for (const campaign of ['wrong', 'right']) {
      expect((await svc(['gifts', '--campaign', campaign, '--json'])).stdout.trim()).toBe('[]');
    }
  });

  it('are printed as cards and exported, without replacing a file', async () => {
    await svc(['gifts', 'create', '--name', 'Printed', '--amount', '1', '--code', 'PRINTED-1']);
    const printed = await svc(['gifts', 'cards', '--pdf', 'cards.pdf', '--search', 'Printed']);
    expect(printed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1 cards/) });
    expect(readFileSync(path.join(folder, 'cards.pdf'), 'latin1')).toMatch(/^%PDF-/);
    expect((await svc(['gifts', 'export', '--search', 'Printed'])).stdout).toContain('PRINTED-1');
    expect((await svc(['gifts', 'export', '--out', 'cards.pdf'])).code).toBe(2);
  });
});
