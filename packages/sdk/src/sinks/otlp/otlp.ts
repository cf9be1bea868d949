import { hostname } from 'node:os'
import { checkOptions } from '../../config/check-options.ts'
import { checkHttp } from '../../delivery/connection/check-http.ts'
import { HttpClient } from '../../delivery/connection/http-client.ts'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import type { Batch } from '../../schema/batch.ts'
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
  return delivery<OtlpRequest>({
    ...options,
    name,
    timeoutMs,
    encode(batches: readonly Batch[]) {
      const points: PartBlock<PointBlock>[] = []
      const records: PartBlock<LogBlock>[] = []
      for (const [index, batch] of batches.entries()) {
        if (isLog(batch)) {
          const origin = resources.of(batch.type, batch.source)
          const block = { ...origin, records: encodeLogRecords(batch), from: 0, to: batch.count }
          records.push({ block, batch: index })
          continue
        }
        const block = series.points(batch)
        if (block !== undefined) points.push({ block, batch: index })
      }
      const parts: OtlpPart[] = [
        ...partsOf(points, bytesMax, encodings.metrics),
        ...partsOf(records, bytesMax, encodings.logs),
      ]
      return parts.length === 0 ? undefined : { parts, refused: [], unknown: undefined }
    },
    send: (request, signal) =>
      sendParts(
        request,
        (part) => clients[part.signal].send(part.request, limitOf(signal, limitsMs[part.signal])),
        // The next requests are smaller from the start.
        (part) => (bytesMax = Math.max(SMALLEST_BYTES, Math.min(bytesMax, part.bytes >> 1))),
      ),
    waitMs: () => Math.max(clients.metrics.waitMs(), clients.logs.waitMs()),
    close() {
      clients.metrics.close()
      clients.logs.close()
    },
  })
}

/** The limit of requests is not lowered further. Unit: bytes. */
const SMALLEST_BYTES = 16 << 10
