import { type Affine, GENERATOR } from './curve.ts';
import { buildWindows, select, type Windows } from './windows.ts';

const SCALAR_BITS = 252;

/** Multiples of a point that is used often: about 8,000 of them are built on first use. */
export class FixedBase {
  readonly point: Affine;
  #windows: Windows | undefined;

  constructor(point: Affine) {
    this.point = point;
  }

  /** Points whose sum is the multiple. They grow and stay below the order, so none is ± the sum before it. */
  select(scalar: bigint): Affine[] {
    this.#windows ??= buildWindows(this.point, SCALAR_BITS);
    return select(this.#windows, scalar);
  }
}

export const generator = new FixedBase(GENERATOR);
