import { useRead } from './api.ts';

/** The name of a service; its id while it is read, and where it is no longer offered. */
export function useServiceName(id: string | undefined): string | undefined {
  const { data } = useRead('GET /skus/{id}', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  return data?.name ?? id;
}

export const ServiceName = ({ id }: { id: string }) => useServiceName(id);
