/**
 * The next of the list, over and over. Of what an endpoint ends, one that is asked for in vain is not lost to those that come later;
 * and a list is longer than a suite has successes in a row.
 */
export function inTurn<T>(list: T[]): T {
  const next = list.shift();
  if (next === undefined) throw new Error('The list is empty.');
  list.push(next);
  return next;
}
