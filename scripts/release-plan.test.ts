import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bump, nextVersion, releaseChangelog, setLockVersion, setVersion } from './release-plan.ts';

const changelog = `# Changelog

## [Unreleased]

### Added

- Gifts.

## [0.1.0] - 2026-11-16

### Added

- Wallets.
`;

describe('the version of a release', () => {
  it('is a bump of the current one', () => {
    expect([bump('0.1.9', 'patch'), bump('0.1.9', 'minor'), bump('0.1.9', 'major')]).toEqual([
      '0.1.10',
      '0.2.0',
      '1.0.0',
    ]);
    expect(nextVersion('0.1.0', changelog, 'minor')).toBe('0.2.0');
  });

  it('is the one that was named', () => {
    expect(nextVersion('0.1.0', changelog, '3.2.1')).toBe('3.2.1');
  });

  it('is by default the current one until that is released, then the next patch', () => {
    expect(nextVersion('0.2.0', changelog, undefined)).toBe('0.2.0');
    expect(nextVersion('0.1.0', changelog, undefined)).toBe('0.1.1');
  });

  it('is refused where it is no version, or released already', () => {
    expect(() => nextVersion('0.1.0', changelog, 'huge')).toThrow('neither a version nor one of: patch, minor, major');
    expect(() => nextVersion('0.1.0', changelog, '0.1.0')).toThrow('a section for 0.1.0 already');
  });
});

describe('the changelog of a release', () => {
  it('has what was unreleased under the version and its date', () => {
    expect(releaseChangelog(changelog, '0.2.0', '2026-12-01')).toBe(
      changelog.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n'),
    );
  });

  it('is moved the same way where nothing was released before', () => {
    const first = '# Changelog\n\n## [Unreleased]\n\n- Wallets.\n';
    const released = releaseChangelog(first, '0.1.0', '2026-12-01');
    expect(released).toBe('# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-12-01\n\n- Wallets.\n');
    expect(() => releaseChangelog(released, '0.1.1', '2026-12-02')).toThrow('nothing under Unreleased');
  });

  it('needs a section for what is unreleased', () => {
    expect(() => releaseChangelog('# Changelog\n', '0.2.0', '2026-12-01')).toThrow('no section "## [Unreleased]"');
  });

  it('of this repository can be moved or has nothing to move', () => {
    const own = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
    expect(own).toContain('\n## [Unreleased]\n');
  });
});

describe('the manifests of a release', () => {
  const manifest = {
    name: '@svc/sdk',
    version: '0.1.0',
    dependencies: { '@svc/protocol': '0.1.0', 'hash-wasm': '4.13.0' },
  };

  it('carry one version, also where our packages name one another', () => {
    expect(setVersion(manifest, '0.2.0')).toEqual({
      name: '@svc/sdk',
      version: '0.2.0',
      dependencies: { '@svc/protocol': '0.2.0', 'hash-wasm': '4.13.0' },
    });
    expect(setVersion({ version: '0.1.0' }, '0.2.0')).toEqual({ version: '0.2.0' });
    const peers = { peerDependencies: { '@svc/sdk': '0.1.0', react: '>=18' } };
    expect(setVersion(peers, '0.2.0').peerDependencies).toEqual({ '@svc/sdk': '0.2.0', react: '>=18' });
  });

  it('and the lock file agree, and installed packages stay as they are', () => {
    const installed = {
      'node_modules/pg': { version: '8.23.1' },
      'packages/server/node_modules/x': { version: '1.0.0' },
    };
    const lock = { version: '0.1.0', packages: { '': { version: '0.1.0' }, 'packages/sdk': manifest, ...installed } };
    expect(setLockVersion(lock, '0.2.0')).toEqual({
      version: '0.2.0',
      packages: { '': { version: '0.2.0' }, 'packages/sdk': setVersion(manifest, '0.2.0'), ...installed },
    });
  });
});
