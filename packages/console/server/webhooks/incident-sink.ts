import { hostname } from 'node:os'
import { type Batch, countDrop, type ReadRecord, readRecords, type Sink, sinkStats, viewsOf } from '@sonde/sdk'
import { markType } from '@sonde/sdk/internal'
import type { WebhookEvent } from './event.ts'

/** Type of the states of hints, which the agent reports. */
const HINT_TYPE = 'sonde_hint'
/** The source that reports the marks of hints. All other marks are those of events of traceback. */
const HINTS_SOURCE = 'self'

/** Takes events. */
export interface Notified {
  notify(event: WebhookEvent): void
  close(limitMs?: number): Promise<void>
}

/**
 * A sink that sends hints and events of traceback to webhooks: it reads the records in which the agent reports them.
 * Records of applications and files are not taken, because any application could forge a hint.
 */
export function incidentSink(to: Notified): Sink {
  const stats = sinkStats()
  let isClosed = false
  return {
    name: 'webhooks',
    stats,
    accept(batch) {
      const startedMs = performance.now()
      stats.in += batch.count
      if (isClosed) countDrop(stats, 'closed', batch.count)
      else if (batch.bytes.byteLength !== batch.count * batch.type.layout.recordBytes) {
        stats.errors++
        countDrop(stats, 'wrong_size', batch.count)
      } else {
        stats.out += batch.count
        for (const event of eventsOf(batch)) to.notify(event)
      }
      stats.seconds += (performance.now() - startedMs) / 1000
    },
    // Messages are no copies of records: nothing here waits for a receiver.
    flush: () => Promise.resolve(),
    close(limitMs) {
      isClosed = true
      return to.close(limitMs)
    },
  }
}

function* eventsOf(batch: Batch): Generator<WebhookEvent> {
  const { type, source, origin, bytes, count, symbols } = batch
  if (origin !== 'own') return
  const isHint = type.name === HINT_TYPE
  if (!isHint && (type !== markType || source.id === HINTS_SOURCE)) return
  const node = source.host ?? hostname()
  for (const record of readRecords(type, viewsOf(bytes), count, symbols) as Iterable<ReadRecord>) {
    const { device } = record
    const isSimulated = source.labels.simulated === 'true' || String(device).startsWith('sim-')
    const event = isHint ? hintEvent(record) : markEvent(record)
    const common = { node, ...(isSimulated && { simulated: 'true' }) }
    if (event !== undefined) yield { ...event, data: { ...event.data, ...common } }
  }
}

/** A hint is told once it is confirmed: many that are not were a single bad sample. */
function hintEvent(record: ReadRecord): WebhookEvent | undefined {
  const { edge, since_ms: sinceMs, seen_ms: seenMs } = record
  const isStart = edge === 'confirmed'
  if (!isStart && edge !== 'ended') return undefined
  const data = {
    ...texts(record, ['rule', 'device', 'severity', 'title', 'value', 'comparator', 'limit', 'unit', 'event']),
    message: plain(record.sentence),
    since: isoOf(sinceMs),
    ...(!isStart && { ended: isoOf(seenMs) }),
  }
  const atMs = Number(record.time) / 1e6
  return isStart
    ? { type: 'hint.opened', status: 'start', atMs, data }
    : { type: 'hint.ended', status: 'success', atMs, data }
}

function markEvent(record: ReadRecord): WebhookEvent | undefined {
  const { edge, rule, device } = record
  const isStart = edge === 'opened'
  if (!isStart && edge !== 'ended') return undefined
  const message = `Rule ${rule} ${isStart ? 'opened' : 'ended'} an event${device === '' ? '' : ` of ${device}`}`
  const data = { ...texts(record, ['rule', 'device', 'severity', 'event']), message }
  const atMs = Number(record.time) / 1e6
  return isStart
    ? { type: 'traceback.opened', status: 'start', atMs, data }
    : { type: 'traceback.ended', status: 'success', atMs, data }
}

function texts(record: ReadRecord, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, plain(record[name])]))
}

/** A value as text; sentences have spaces that never break, which are for the page. */
function plain(value: unknown): string {
  return value === undefined ? '' : String(value).replace(/[\u00a0\u202f]/g, ' ')
}

function isoOf(ms: unknown): string {
  return new Date(Number(ms)).toISOString()
}
