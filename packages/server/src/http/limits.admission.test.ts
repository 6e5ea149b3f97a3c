import { describe, expect, it } from 'vitest';
import { AdmissionControl, BUSY_COUNT, BUSY_WINDOW_MS, isExpensive, LONGEST_WAIT_MS } from './limits.ts';

const PER_SECOND = 10;
const GAP_MS = 1_000 / PER_SECOND;

/** Admission control with a manual clock; `begun` lists what began and when. */
function controlled() {
  let nowMs = 0;
  const sleepers: { readonly atMs: number; wake(): void }[] = [];
  const pause = (ms: number) =>
    new Promise<void>((wake) => {
      sleepers.push({ atMs: nowMs + ms, wake });
    });
  const admission = new AdmissionControl({ perSecond: PER_SECOND, now: () => nowMs, pause });
  const begun: string[] = [];
  return {
    admission,
    begun,
    serve: (count: number) => {
      for (let served = 0; served < count; served++) admission.served();
    },
    ask: (name: string, tenant?: string) => {
      void admission.start(tenant).then(() => begun.push(`${name} at ${nowMs}`));
    },
    settle: () => new Promise((resolve) => setImmediate(resolve)),
    async pass(ms: number, eachStep: () => void = () => {}) {
      const untilMs = nowMs + ms;
      for (; nowMs <= untilMs; nowMs += 1) {
        eachStep();
        for (const due of sleepers.filter(({ atMs }) => atMs <= nowMs)) {
          sleepers.splice(sleepers.indexOf(due), 1);
          due.wake();
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      nowMs = untilMs;
    },
  };
}

describe('expensive requests', () => {
  it('are those that the service pays gas for', () => {
    const names = ['createWallet', 'executeSponsoredTransaction', 'executeWalletUpgrade'];
    expect(names.every(isExpensive)).toBe(true);
    expect(['getSku', 'prepareWalletCreation', 'listTransactions'].some(isExpensive)).toBe(false);
  });

  it('begin at once while little else is served', async () => {
    const { admission, begun, serve, ask, settle } = controlled();
    serve(BUSY_COUNT - 1);
    for (const name of ['a', 'b', 'c']) ask(name);
    await settle();
    expect(begun).toEqual(['a at 0', 'b at 0', 'c at 0']);
    expect(admission.waiting).toBe(0);
  });

  it('of several organisations begin in turn', async () => {
    const { begun, serve, ask, pass } = controlled();
    serve(BUSY_COUNT);
    for (let count = 0; count < 20; count++) ask('loud', 'org_loud');
    ask('quiet', 'org_quiet');
    await pass(3 * GAP_MS, () => serve(BUSY_COUNT));
    expect(begun.slice(0, 3).map((each) => each.split(' ')[0])).toContain('quiet');
  });

  it('begin at an even pace, in the order in which they came, while much else is served', async () => {
    const { begun, serve, ask, pass } = controlled();
    serve(BUSY_COUNT);
    for (const name of ['a', 'b', 'c']) ask(name);
    await pass(2 * GAP_MS, () => serve(1));
    expect(begun).toEqual(['a at 0', `b at ${GAP_MS}`, `c at ${2 * GAP_MS}`]);
  });

  it('begin all together, none forgotten, soon after the others have gone', async () => {
    const { admission, begun, serve, ask, pass } = controlled();
    serve(BUSY_COUNT);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) ask(name);
    await pass(BUSY_WINDOW_MS + GAP_MS);
    expect(begun.map((text) => text[0])).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(begun.slice(-3)).toEqual([`d at ${3 * GAP_MS}`, `e at ${3 * GAP_MS}`, `f at ${3 * GAP_MS}`]);
    expect(admission.waiting).toBe(0);
  });

  it('do not overtake one another when it becomes quiet', async () => {
    const { begun, serve, ask, pass } = controlled();
    serve(BUSY_COUNT);
    for (const name of ['a', 'b', 'c', 'd']) ask(name);
    await pass(BUSY_WINDOW_MS);
    ask('late');
    await pass(0);
    expect(begun.map((text) => text.split(' ')[0])).toEqual(['a', 'b', 'c', 'd', 'late']);
  });

  it('do not wait longer than callers do: the oldest begins early when too many wait', async () => {
    const { admission, begun, serve, ask, settle } = controlled();
    const most = (LONGEST_WAIT_MS / 1_000) * PER_SECOND;
    serve(BUSY_COUNT);
    for (let number = 0; number <= most; number++) ask(String(number));
    await settle();
    expect([begun, admission.waiting]).toEqual([['0 at 0'], most]);
    ask('one more');
    await settle();
    expect([begun, admission.waiting]).toEqual([['0 at 0', '1 at 0'], most]);
  });

  it('begin at once when the process stops', async () => {
    const { admission, begun, serve, ask, settle } = controlled();
    serve(BUSY_COUNT);
    for (const name of ['a', 'b', 'c']) ask(name);
    admission.stop();
    ask('d');
    await settle();
    expect(begun).toEqual(['a at 0', 'b at 0', 'c at 0', 'd at 0']);
  });
});
