import { describe, expect, it } from 'vitest';
import { readCurl, snippetOf } from './snippets.ts';

const command = `curl -X POST 'https://pay.example/v1/gifts?x=1' \\
  -H "x-api-key: $PUBLIC_KEY" \\
  -H "Authorization: Bearer $SECRET_KEY" \\
  -H 'content-type: application/json' \\
  -d '{
  "name": "Ana'\\''s",
  "isActive": true,
  "expiresAt": null,
  "note": "true"
}'`;

describe('a command of the reference', () => {
  it('is read back', () => {
    expect(readCurl(command)).toEqual({
      method: 'POST',
      url: 'https://pay.example/v1/gifts?x=1',
      headers: [
        ['x-api-key', '$PUBLIC_KEY'],
        ['authorization', 'Bearer $SECRET_KEY'],
        ['content-type', 'application/json'],
      ],
      body: '{\n  "name": "Ana\'s",\n  "isActive": true,\n  "expiresAt": null,\n  "note": "true"\n}',
    });
    expect(readCurl("curl 'https://pay.example/v1/skus'")).toEqual({
      ...{ method: 'GET', url: 'https://pay.example/v1/skus', headers: [], body: undefined },
    });
    expect(readCurl('npm start')).toBeUndefined();
  });

  it('is a request in TypeScript', () => {
    const code = snippetOf('typescript', command);
    expect(code).toMatch(/'authorization': `Bearer .\{process\.env\.SECRET_KEY\}`/);
    expect(code).toContain("method: 'POST'");
    expect(code).toContain('body: JSON.stringify({');
  });

  it('is a request in Python, with its own words for true and null', () => {
    const code = snippetOf('python', command);
    expect(code).toContain('"authorization": "Bearer " + os.environ["SECRET_KEY"]');
    expect(code).toContain('"isActive": True');
    expect(code).toContain('"expiresAt": None');
    expect(code).toContain('"note": "true"');
  });

  it('is a program in Go', () => {
    const code = snippetOf('go', command);
    expect(code).toContain('http.NewRequest("POST", "https://pay.example/v1/gifts?x=1", body)');
    expect(code).toContain('request.Header.Set("authorization", "Bearer " + os.Getenv("SECRET_KEY"))');
    expect(snippetOf('go', "curl 'https://pay.example/v1/skus'")).not.toContain('"strings"');
  });

  it('stays itself in curl, and where it is not one of ours', () => {
    expect(snippetOf('curl', command)).toBe(command);
    expect(snippetOf('python', 'npm start')).toBe('npm start');
  });
});
