import { readFileSync } from 'node:fs';
import path from 'node:path';
import { hash } from 'starknet';
import { describe, expect, it } from 'vitest';
import {
  accountAddress,
  classes,
  constructorCalldata,
  currentClassHash,
  walletClass,
  walletClasses,
} from './classes.ts';
import { toHex } from './felt.ts';
import { starkKey } from './signature.ts';

const owner = starkKey(0x1234n);

const compiled = path.resolve(import.meta.dirname, '../../../contracts/compiled');
const read = (file: string) => readFileSync(path.join(compiled, file), 'utf8');

describe('wallet classes', () => {
  it('have for current one the contract that is compiled', () => {
    const computed = hash.computeContractClassHash(JSON.parse(read('svc_account.json')));
    expect(toHex(classes.svc)).toBe(toHex(BigInt(computed)));
    expect(BigInt(read('class-hash.txt').trim())).toBe(classes.svc);
  });

  it('have beside them the treasury, as it is compiled', () => {
    const computed = hash.computeContractClassHash(JSON.parse(read('svc_treasury.json')));
    expect(toHex(classes.treasury)).toBe(toHex(BigInt(computed)));
    expect(BigInt(read('treasury-class-hash.txt').trim())).toBe(classes.treasury);
  });

  it('are the four known ones, one of each type current', () => {
    const table = walletClasses.map((known) => [toHex(known.classHash), known.walletType, known.current]);
    expect(table).toEqual([
      [toHex(classes.svc), 'SVC', true],
      ['0x484bbd2404b3c7264bea271f7267d6d4004821ac7787a9eed7f472e79ef40d1', 'SVC', false],
      ['0x53f4f8791ed5bed0fddaa553d180c664e32cfaf8316bb232ae77bb08f459f2a', 'SVC', false],
      ['0x36078334509b514626504edc9fb252328d1a240e4e948bef8d0c08dff45927f', 'READY', true],
    ]);
    for (const known of walletClasses.filter(({ current }) => current)) {
      expect(currentClassHash(known.walletType)).toBe(known.classHash);
    }
  });

  it('say what each can do', () => {
    const can = (classHash: bigint) => {
      const known = walletClass(classHash);
      return [known?.sessions, known?.policies, known?.atomicMulticall];
    };
    expect(can(classes.svc)).toEqual([true, true, true]);
    expect(can(classes.svcPolicies)).toEqual([true, true, false]);
    expect(can(classes.svcSessions)).toEqual([true, false, false]);
    expect(can(classes.ready)).toEqual([false, false, true]);
    expect(walletClass(1n)).toBeUndefined();
  });
});

describe('account addresses', () => {
  it.each(walletClasses)('of class $walletType agree with starknet.js', ({ classHash, walletType }) => {
    const calldata = walletType === 'READY' ? [0n, owner, 1n] : [owner];
    expect(constructorCalldata(walletType, owner)).toEqual(calldata);
    const expected = hash.calculateContractAddressFromHash(owner, classHash, calldata, 0);
    expect(toHex(accountAddress(classHash, owner))).toBe(toHex(BigInt(expected)));
  });

  it('of an unknown class have the constructor of SVC', () => {
    const expected = hash.calculateContractAddressFromHash(owner, 0x77n, [owner], 0);
    expect(accountAddress(0x77n, owner)).toBe(BigInt(expected));
  });
});
