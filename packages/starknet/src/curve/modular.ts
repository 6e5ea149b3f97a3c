/** Extended Euclid. The value must not be a multiple of the (prime) modulus. */
export function invert(value: bigint, modulus: bigint): bigint {
  let remainder = value % modulus;
  let previous = modulus;
  let coefficient = 1n;
  let last = 0n;
  if (remainder < 0n) remainder += modulus;
  while (remainder > 1n) {
    const quotient = previous / remainder;
    [previous, remainder] = [remainder, previous - quotient * remainder];
    [last, coefficient] = [coefficient, last - quotient * coefficient];
  }
  if (remainder === 0n) throw new RangeError('Zero has no inverse');
  return coefficient < 0n ? coefficient + modulus : coefficient;
}

/** Montgomery's trick: one inversion for all values. */
export function invertAll(values: readonly bigint[], modulus: bigint): bigint[] {
  const products: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    products.push(product);
    product = (product * value) % modulus;
  }
  let inverse = invert(product, modulus);
  const inverses = new Array<bigint>(values.length);
  for (let i = values.length - 1; i >= 0; i--) {
    inverses[i] = (inverse * (products[i] ?? 1n)) % modulus;
    inverse = (inverse * (values[i] ?? 1n)) % modulus;
  }
  return inverses;
}
