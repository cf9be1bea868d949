import { hostname } from 'node:os'
import { join } from 'node:path'
import { checkOptions } from '../../config/check-options.ts'
import { checkDeliveryLimits } from '../../delivery/config.ts'
import { checkHttp } from '../../delivery/connection/check-http.ts'
import { HttpClient } from '../../delivery/connection/http-client.ts'
import { type DeliverySink, delivery } from '../../delivery/delivery.ts'
import type { SourceInfo } from '../../schema/batch.ts'
import { wallNs } from '../../source/clock.ts'
import { refuseClash } from '../refuse-clash.ts'
import { clashOfRemoteWrite, RECORDS_MAX, type RemoteWriteOptions, remoteWriteTargetEntries } from './config.ts'
import { LiveFirst } from './live-first.ts'
import { type Push, Pushes } from './pushes.ts'
import { SentSeries } from './sent-series.ts'
import { Versions } from './versions.ts'

/** Size of a request before it is packed. Unit: bytes. */
const REQUEST_BYTES_MAX = 4 << 20
/** How long the markers of the end may take. Unit: milliseconds. */
const END_LIMIT_MS = 1000
/** Queue of the live lane at most. Unit: bytes. */
const LIVE_QUEUE_BYTES = 64 << 20
/** Longest pause between attempts of the live lane: after it, current samples arrive again. Unit: milliseconds. */
const LIVE_BACKOFF_MS = 5000

/**
 * Sends the metrics of records to a receiver of Prometheus remote write.
 *
 * @throws SondeError `RWR_OPTION` for an option that is not allowed, `DLV_CONNECTION` for a file or variable that
 * cannot be read, `DLV_OPTION` for a limit out of range.
 */
export function createRemoteWrite(options: RemoteWriteOptions): DeliverySink {
  const target = checkedTarget(options)
  refuseClash(clashOfRemoteWrite(target), 'RWR_OPTION', ' of remote_write')
  checkHttp(target)
  const { version } = target
  const versions = new Versions(version, options.name ?? 'remote_write')
  const sink =
    target.backlog === 'in_order' ? createLane(options, target, versions) : liveFirst(options, target, versions)
  if (version === '2.0') Object.defineProperty(sink, 'fallback', { get: () => versions.fallback })
  return sink
}

type Target = ReturnType<typeof checkedTarget>

function checkedTarget(options: RemoteWriteOptions) {
  return checkOptions(remoteWriteTargetEntries, options, 'RWR_OPTION', ' of remote_write')
}

/** A queue each, so that a restart finds what waited in both. The backlog has the folder of a queue in order. */
function liveFirst(options: RemoteWriteOptions, target: Target, versions: Versions): DeliverySink {
  const { queueLimitBytes, backoffInitialMs, backoffMaxMs } = checkDeliveryLimits(options)
  const { queueDir, deadLetters } = options
  const { rateLimitBytesPerSecond: limit = Number.POSITIVE_INFINITY } = target
  const backlogBytesPerSecond = Math.min(target.backlogBytesPerSecond, limit / 2)
  const liveBytes = Math.min(LIVE_QUEUE_BYTES, Math.floor(queueLimitBytes / 2))
  const live = {
    ...options,
    ...(queueDir === undefined ? {} : { queueDir: join(queueDir, 'live') }),
    ...(deadLetters === undefined ? {} : { deadLetters: join(deadLetters, 'live') }),
    queueLimitBytes: liveBytes,
    backoffMaxMs: Math.max(backoffInitialMs, Math.min(LIVE_BACKOFF_MS, backoffMaxMs)),
  }
  const backlog = { ...options, queueLimitBytes: queueLimitBytes - liveBytes }
  const liveTarget =
    limit === Number.POSITIVE_INFINITY ? target : { ...target, rateLimitBytesPerSecond: limit - backlogBytesPerSecond }
  return new LiveFirst(
    createLane(live, liveTarget, versions),
    createLane(backlog, { ...target, rateLimitBytesPerSecond: backlogBytesPerSecond }, versions, { marksEnd: false }),
  )
}

function createLane(
  options: RemoteWriteOptions,
  target: Target,
  versions: Versions,
  { marksEnd }: { readonly marksEnd: boolean } = { marksEnd: true },
): DeliverySink {
  const { externalLabels, requestSamplesMax, seriesExpiryS, seriesLimit, aheadLimitS } = target
  const { name = 'remote_write', schema = 'sonde' } = options
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
    marksEnd,
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
      const isWhole = marksEnd && sink.queuedRecords === 0 && sink.failing === ''
      try {
        if (isWhole) await pushes.end(AbortSignal.timeout(END_LIMIT_MS))
      } finally {
        client.close()
      }
    },
  })
  const ofBook = { retire: (source: SourceInfo) => book.retire(source, Number(wallNs() / 1_000_000n)) }
  return Object.assign(sink, ofBook)
}
