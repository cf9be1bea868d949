import { sinkHealthType } from '../schema/builtin.ts'
import { droppedTotal, type Sink } from '../sink/sink.ts'
import type { Source } from '../source/source.ts'

/** Writes the state of a sink as a row of `sonde_sink`; the source collects it. `isUp` is undefined if unknown. */
export function reportSink(source: Source, sink: Sink, isUp: boolean | undefined): void {
  const { name, stats, queuedRecords, queuedBytes, queuedBytesMax, lagS, fallback } = sink
  const row = source.bind(sinkHealthType, { sink: name })
  row.counter('records_in_total').set(stats.in)
  row.counter('records_out_total').set(stats.out)
  row.counter('records_dropped_total').set(droppedTotal(stats))
  if (stats.thinned !== undefined) row.counter('records_thinned_total').set(stats.thinned)
  row.counter('duplicates_total').set(stats.duplicates)
  row.counter('errors_total').set(stats.errors)
  row.counter('accept_seconds_total').set(stats.seconds)
  if (isUp !== undefined) row.gauge('up').set(isUp ? 1 : 0)
  if (fallback !== undefined) row.gauge('fallback').set(fallback === '' ? 0 : 1)
  if (queuedRecords !== undefined) row.gauge('queued_records').set(queuedRecords)
  if (queuedBytes !== undefined) row.gauge('queued_bytes').set(queuedBytes)
  if (queuedBytesMax !== undefined) row.gauge('queue_limit_bytes').set(queuedBytesMax)
  if (lagS !== undefined) row.gauge('lag_seconds').set(lagS)
}
