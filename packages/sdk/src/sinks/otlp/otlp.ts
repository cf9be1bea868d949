import { hostname } from 'node:os'
import { checkOptions } from '../../config/check-options.ts'
import { checkHttp } from '../../delivery/connection/check-http.ts'
import { HttpClient } from '../../delivery/connection/http-client.ts'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import type { Batch, SourceInfo } from '../../schema/batch.ts'
import { wallNs } from '../../source/clock.ts'
import { encodeLogRecords, isLog, type LogBlock } from '../../wire/otlp/encode-logs.ts'
import type { PointBlock } from '../../wire/otlp/points.ts'
import { refuseClash } from '../refuse-clash.ts'
import { clashOfOtlp, type OtlpOptions, otlpTargetEntries } from './config.ts'
import { OtlpSeries } from './otlp-series.ts'
import { logEncoding, metricEncoding, type OtlpPart, type PartBlock, partsOf } from './parts.ts'
import { otlpProtocol } from './protocol.ts'
import { Resources } from './resources.ts'
import { type OtlpRequest, sendParts } from './send-parts.ts'
import { targetOf } from './signals.ts'

/**
 * Sends metrics and logs to an OpenTelemetry receiver with OTLP over HTTP.
 *
 * @throws SondeError `OTL_OPTION` for an option that is not allowed, `DLV_CONNECTION` for a file or variable that
 * cannot be read, `DLV_OPTION` for a limit out of range.
 */
export function createOtlp(options: OtlpOptions = {}): DeliverySink {
  const checked = checkOptions(otlpTargetEntries, options, 'OTL_OPTION', ' of otlp')
  const { metrics, logs, temporality, resource } = targetOf(checked, process.env)
  refuseClash(clashOfOtlp({ ...options, temporality }), 'OTL_OPTION', ' of otlp')
  for (const { http } of [metrics, logs]) checkHttp(http)
  const { name = 'otlp', schema = 'sonde', version = '', timers } = options
  const clients = {
    metrics: new HttpClient(otlpProtocol(name, metrics.protocol), metrics.http, timers),
    logs: new HttpClient(otlpProtocol(name, logs.protocol), logs.http, timers),
  }
  const timeoutMs = Math.max(metrics.timeoutMs, logs.timeoutMs)
  const limitOf = (signal: AbortSignal, limitMs: number) =>
    limitMs === timeoutMs ? signal : AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
  const limitsMs = { metrics: metrics.timeoutMs, logs: logs.timeoutMs }
  const resources = new Resources({ 'service.name': schema, ...resource }, hostname(), version)
  const series = new OtlpSeries(temporality, resources)
  const encodings = { metrics: metricEncoding(temporality, metrics.protocol), logs: logEncoding(logs.protocol) }
  let bytesMax = checked.requestBytesMax
  /** Attempts under way. */
  let sending = 0
  const sendOf = (signal: AbortSignal) => (part: OtlpPart) =>
    clients[part.signal].send(part.request, limitOf(signal, limitsMs[part.signal]))
  /** The last points of series that have ended. They are sent once: a receiver that misses them lets series expire. */
  const sendEnded = async (blocks: readonly PointBlock[], signal: AbortSignal) => {
    const parts = partsOf(
      blocks.map((block) => ({ block, batch: 0 })),
      bytesMax,
      encodings.metrics,
    )
    if (parts.length > 0) await sendParts(requestOf(parts), sendOf(signal))
  }
  const sink: DeliverySink = delivery<OtlpRequest>({
    ...options,
    name,
    timeoutMs,
    encode(batches) {
      const [points, records] = blocksOf(batches, series, resources)
      const parts = [...partsOf(points, bytesMax, encodings.metrics), ...partsOf(records, bytesMax, encodings.logs)]
      return parts.length === 0 && !series.ended.hasAny ? undefined : requestOf(parts, series.newestMs)
    },
    async send(request, signal) {
      sending++
      try {
        const result = await sendParts(
          request,
          sendOf(signal),
          // The next requests are smaller from the start.
          (part) => (bytesMax = Math.max(SMALLEST_BYTES, Math.min(bytesMax, part.bytes >> 1))),
        )
        // The last point of a series must not overtake others of it.
        const isOver = result.outcome === 'ok' || result.outcome === 'partial'
        if (isOver && sending === 1) await sendEnded(series.ended.blocks(request.newestMs), signal)
        return result
      } finally {
        sending--
      }
    },
    waitMs: () => Math.max(clients.metrics.waitMs(), clients.logs.waitMs()),
    async close() {
      // Behind what waits, a last point would be too early.
      const isWhole = sink.queuedRecords === 0 && sink.failing === ''
      try {
        if (isWhole) await sendEnded(series.ended.allBlocks(), AbortSignal.timeout(END_LIMIT_MS))
      } finally {
        clients.metrics.close()
        clients.logs.close()
      }
    },
  })
  const retire = (source: SourceInfo) => series.ended.retire(source, Number(wallNs() / 1_000_000n))
  return Object.assign(sink, { retire })
}

/** The points and log records of batches. */
function blocksOf(
  batches: readonly Batch[],
  series: OtlpSeries,
  resources: Resources,
): [PartBlock<PointBlock>[], PartBlock<LogBlock>[]] {
  const points: PartBlock<PointBlock>[] = []
  const records: PartBlock<LogBlock>[] = []
  for (const [index, batch] of batches.entries()) {
    if (isLog(batch)) {
      const origin = resources.of(batch.type, batch.source)
      records.push({ block: { ...origin, records: encodeLogRecords(batch), from: 0, to: batch.count }, batch: index })
      continue
    }
    const block = series.ended.take(batch) ? undefined : series.points(batch)
    if (block !== undefined) points.push({ block, batch: index })
  }
  return [points, records]
}

function requestOf(parts: OtlpPart[], newestMs = 0): OtlpRequest {
  return { parts, newestMs, refused: [], unknown: undefined }
}

/** How long the last points of all series may take. Unit: milliseconds. */
const END_LIMIT_MS = 1000
/** The limit of requests is not lowered further. Unit: bytes. */
const SMALLEST_BYTES = 16 << 10
