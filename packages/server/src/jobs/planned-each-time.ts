/**
 * The same database for connections that plan every statement anew. A plan that was made and kept while the queue was
 * empty reads the whole table when it is full: 30 times slower with 3,000 jobs.
 */
export function plannedEachTime(url: string): string {
  const planned = new URL(url);
  const options = planned.searchParams.get('options') ?? '';
  planned.searchParams.set('options', `${options} -c plan_cache_mode=force_custom_plan`.trim());
  return planned.href;
}
