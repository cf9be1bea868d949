import { counter, gauge, label, type Source, timestamp } from '@sonde/sdk'
import { defineOwnType } from '@sonde/sdk/internal'

/** The service as a whole. */
export const serviceType = defineOwnType('sonde_service', 'The service that applications report to', {
  time: timestamp(),
  up: gauge('u64', { help: '1 while it listens' }),
  clients: gauge('u64', { help: 'Clients that are connected' }),
  in_flight_bytes: gauge('u64', {
    unit: 'bytes',
    help: 'Memory of accepted records that are not yet acknowledged',
  }),
  connections_total: counter('u64', { help: 'Connections that were accepted' }),
  pages_total: counter('u64', { help: 'Pages that were taken' }),
  records_total: counter('u64', { help: 'Records in them' }),
  bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes of these records' }),
  duplicate_pages_total: counter('u64', { help: 'Pages that were sent again and had arrived before' }),
  missing_pages_total: counter('u64', { help: 'Pages that clients gave up before they were sent' }),
  ignored_claims_total: counter('u64', {
    help: 'Types whose entity was not taken: of a kind that the agent itself knows of, or not understood',
  }),
})

/** Refused connections and records of the service. */
export const refusalType = defineOwnType('sonde_service_refused', 'Clients that the service refused, by reason', {
  time: timestamp(),
  reason: label('Code of the error, or clients where there were too many'),
  clients_total: counter('u64', { help: 'Clients refused, or sent away' }),
})

/** What the service counts of itself and all clients. */
export class ServiceStats {
  connections = 0
  pages = 0
  records = 0
  bytes = 0
  duplicatePages = 0
  missingPages = 0
  /** Types whose claim of an entity was not taken. */
  ignoredClaims = 0
  /** Records that were sent and not taken, by reason. */
  readonly dropped = new Map<string, number>()
  /** Clients that were refused or sent away, by reason. */
  readonly refused = new Map<string, number>()

  /**
   * Counts missing pages of a client. The counter stops at the largest exact number.
   */
  missed(pages: bigint): void {
    this.missingPages = Math.min(Number.MAX_SAFE_INTEGER, this.missingPages + Number(pages))
  }

  refuse(reason: string): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1)
  }
}

/** The gauges of the service. */
export interface ServiceGauges {
  readonly isUp: boolean
  readonly clientCount: number
  readonly inFlightBytes: number
}

/** Puts how the service fares into the rows of a source. */
export function reportService(source: Source, stats: ServiceStats, gauges: ServiceGauges): void {
  const row = source.bind(serviceType, {})
  row.gauge('up').set(gauges.isUp ? 1 : 0)
  row.gauge('clients').set(gauges.clientCount)
  row.gauge('in_flight_bytes').set(gauges.inFlightBytes)
  row.counter('connections_total').set(stats.connections)
  row.counter('pages_total').set(stats.pages)
  row.counter('records_total').set(stats.records)
  row.counter('bytes_total').set(stats.bytes)
  row.counter('duplicate_pages_total').set(stats.duplicatePages)
  row.counter('missing_pages_total').set(stats.missingPages)
  row.counter('ignored_claims_total').set(stats.ignoredClaims)
  for (const [reason, clients] of stats.refused) {
    source.bind(refusalType, { reason }).counter('clients_total').set(clients)
  }
}
