import type { InfluxOptions } from './config.ts'

/** The address of writes of a server: `/write` for a database, `/api/v2/write` for a bucket. Pure. */
export function writeAddress(server: URL, { database, bucket, org }: InfluxOptions): URL {
  const address = new URL(server)
  const query = address.searchParams
  address.pathname = `${address.pathname.replace(/\/+$/, '')}${bucket === undefined ? '/write' : '/api/v2/write'}`
  if (bucket === undefined) query.set('db', database ?? '')
  else query.set('bucket', bucket)
  if (org !== undefined) query.set('org', org)
  query.set('precision', 'ns')
  return address
}
