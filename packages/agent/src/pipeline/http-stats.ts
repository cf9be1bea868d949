/** Why a request was turned away, or a stream cut short. Each is counted; all are in `/metrics` from the start. */
export const REFUSALS = [
  'connections',
  'stream_clients',
  'stream_queries',
  'stream_stalled',
  'stream_replaced',
  'answer_stalled',
  'parallel_queries',
  'query_cost',
  'parallel_walks',
  'scenarios',
  'host',
  'cross_site',
  'scrape_port',
  'header_bytes',
  'body_bytes',
  'request_time',
  'syntax',
] as const

/** One of {@link REFUSALS}. */
export type HttpRefusal = (typeof REFUSALS)[number]

/** Counts of the listener since the start. */
export class HttpStats {
  /** Answered requests of any status. */
  requests = 0
  /** Answers that were our fault: status 500. */
  errors = 0
  /** Live streams that are open. */
  streams = 0
  /** Queries that are being answered. */
  queries = 0
  readonly refused = new Map<HttpRefusal, number>(REFUSALS.map((reason) => [reason, 0]))

  refuse(reason: HttpRefusal): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1)
  }
}
