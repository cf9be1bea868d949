import { hostname } from 'node:os'
import { checkOptions } from '../../config/check-options.ts'
import { checkHttp } from '../../delivery/connection/check-http.ts'
import { HttpClient } from '../../delivery/connection/http-client.ts'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import type { SourceInfo } from '../../schema/batch.ts'
import { wallNs } from '../../source/clock.ts'
import { refuseClash } from '../refuse-clash.ts'
import { clashOfRemoteWrite, RECORDS_MAX, type RemoteWriteOptions, remoteWriteTargetEntries } from './config.ts'
import { type Push, Pushes } from './pushes.ts'
import { SentSeries } from './sent-series.ts'
import { Versions } from './versions.ts'

/** Size of a request before it is packed. Unit: bytes. */
const REQUEST_BYTES_MAX = 4 << 20
/** How long the markers of the end may take. Unit: milliseconds. */
const END_LIMIT_MS = 1000

/**
 * Sends the metrics of records to a receiver of Prometheus remote write.
 *
 * @throws SondeError `RWR_OPTION` for an option that is not allowed, `DLV_CONNECTION` for a file or variable that
 * cannot be read, `DLV_OPTION` for a limit out of range.
 */
export function createRemoteWrite(options: RemoteWriteOptions): DeliverySink {
  const target = checkOptions(remoteWriteTargetEntries, options, 'RWR_OPTION', ' of remote_write')
  refuseClash(clashOfRemoteWrite(target), 'RWR_OPTION', ' of remote_write')
  checkHttp(target)
  const { externalLabels, requestSamplesMax, seriesExpiryS, seriesLimit, aheadLimitS } = target
  const { name = 'remote_write', schema = 'sonde' } = options
  const versions = new Versions(target.version, name)
  const client = new HttpClient(
    { name, contentType: 'application/x-protobuf', resultOf: versions.resultOf, wordsOf: versions.wordsOf },
    target,
    options.timers,
  )
  const book = new SentSeries({ seriesLimit, expiryMs: seriesExpiryS * 1000, aheadMs: aheadLimitS * 1000 })
  const pushes = new Pushes({
    send: client.send,
    book,
    versions,
    isNative: target.nativeHistograms,
    external: Object.entries({ instance: hostname(), job: schema, ...externalLabels }),
    limits: { samplesMax: requestSamplesMax, bytesMax: REQUEST_BYTES_MAX },
    nowMs: () => Date.now(),
  })
  const { waitMs } = client.transport
  const sink: DeliverySink = delivery<Push>({
    batchRecordsMax: RECORDS_MAX,
    ...options,
    name,
    encode: (batches) => pushes.encode(batches),
    send: (push, signal) => pushes.send(push, signal),
    waitMs,
    async close() {
      // Behind what waits, a marker would make the samples out of order.
      const isWhole = sink.queuedRecords === 0 && sink.failing === ''
      try {
        if (isWhole) await pushes.end(AbortSignal.timeout(END_LIMIT_MS))
      } finally {
        client.close()
      }
    },
  })
  const ofBook = { retire: (source: SourceInfo) => book.retire(source, Number(wallNs() / 1_000_000n)) }
  if (target.version === '2.0') Object.defineProperty(sink, 'fallback', { get: () => versions.fallback })
  return Object.assign(sink, ofBook)
}
