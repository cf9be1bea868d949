import { hostname } from 'node:os'
import { checkOptions } from '../../config/check-options.ts'
import { checkHttp } from '../../delivery/connection/check-http.ts'
import { HttpClient } from '../../delivery/connection/http-client.ts'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import type { Batch } from '../../schema/batch.ts'
import { refuseClash } from '../refuse-clash.ts'
import { clashOfOtlp, type OtlpOptions, otlpTargetEntries } from './config.ts'
import { metricParts, type Part, type PartBlock } from './parts.ts'
import { otlpProtocol } from './protocol.ts'
import { Resources } from './resources.ts'
import { type OtlpRequest, sendParts } from './send-parts.ts'
import { SeriesTable } from './series.ts'

/**
 * Sends metrics and logs to an OpenTelemetry receiver with OTLP over HTTP.
 *
 * @throws SondeError `OTL_OPTION` for an option that is not allowed, `DLV_CONNECTION` for a file or variable that
 * cannot be read, `DLV_OPTION` for a limit out of range.
 */
export function createOtlp(options: OtlpOptions = {}): DeliverySink {
  const target = checkOptions(otlpTargetEntries, options, 'OTL_OPTION', ' of otlp')
  refuseClash(clashOfOtlp(options), 'OTL_OPTION', ' of otlp')
  checkHttp(target)
  const { name = 'otlp', schema = 'sonde', version = '' } = options
  const { temporality, requestBytesMax, protocol } = target
  const metrics = new HttpClient(otlpProtocol(name, 'metrics', protocol), target, options.timers)
  const resources = new Resources({ 'service.name': schema, ...target.resource }, hostname(), version)
  const series = new SeriesTable(temporality, resources)
  const clients = { metrics, logs: metrics }
  const bodyOf = (message: Uint8Array) => message
  return delivery<OtlpRequest>({
    ...options,
    name,
    encode(batches: readonly Batch[]) {
      const blocks: PartBlock[] = []
      for (const [batch, each] of batches.entries()) {
        const points = series.points(each)
        if (points !== undefined) blocks.push({ points, batch })
      }
      const parts: Part[] = metricParts(blocks, requestBytesMax, { temporality, bodyOf })
      return parts.length === 0 ? undefined : { parts, refused: [], unknown: undefined }
    },
    send: (request, signal) => sendParts(request, (part) => clients[part.signal].send(part.request, signal)),
    waitMs: () => metrics.waitMs(),
    close: () => metrics.close(),
  })
}
