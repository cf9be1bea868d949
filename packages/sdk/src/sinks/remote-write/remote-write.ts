import { hostname } from 'node:os'
import { checkOptions } from '../../config/check-options.ts'
import { checkHttp } from '../../delivery/connection/check-http.ts'
import { HttpClient } from '../../delivery/connection/http-client.ts'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import { refuseClash } from '../refuse-clash.ts'
import { clashOfRemoteWrite, RECORDS_MAX, type RemoteWriteOptions, remoteWriteTargetEntries } from './config.ts'
import { type Push, Pushes } from './pushes.ts'
import { SeriesBook } from './series-book.ts'

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
  const { schema = 'sonde' } = options
  const client = new HttpClient(
    { name: options.name ?? 'remote_write', contentType: 'application/x-protobuf' },
    target,
    options.timers,
  )
  const pushes = new Pushes({
    send: client.send,
    book: new SeriesBook({ seriesLimit, expiryMs: seriesExpiryS * 1000, aheadMs: aheadLimitS * 1000 }),
    external: Object.entries({ instance: hostname(), job: schema, ...externalLabels }),
    limits: { samplesMax: requestSamplesMax, bytesMax: REQUEST_BYTES_MAX },
    nowMs: () => Date.now(),
  })
  const { waitMs } = client.transport
  const sink: DeliverySink = delivery<Push>({
    name: 'remote_write',
    batchRecordsMax: RECORDS_MAX,
    ...options,
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
  return sink
}
