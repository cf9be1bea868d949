import { messageOf } from '@sonde/sdk/internal'
import type { RuleBook } from '../../rules/rule.ts'
import { type DeviceRing, SAMPLE_AT } from '../feed/device-ring.ts'
import type { FeedInfo, OpenFeed, SampleFeed } from '../feed/sample-feed.ts'
import { type EventLimits, EventsLog, type LogTotals } from '../log/events-log.ts'
import type { LogFileOptions } from '../log/log-file.ts'
import type { LogRows } from '../log/log-rows.ts'
import { ringFor } from './ring-for.ts'
import { BATCH_SAMPLES, TracebackRun } from './traceback-run.ts'

/** Options of {@link runTraceback}. */
export interface RunTracebackOptions extends EventLimits {
  readonly book: RuleBook
  /** The text of `-d`. */
  readonly device: string
  readonly openFeed: OpenFeed
  readonly forceOwnership: boolean
  readonly file: LogFileOptions
  readonly rows: LogRows
  /** Version of Sonde. */
  readonly version: string
  /** Ends the run. The log quotes its reason: `SIGTERM`. */
  readonly stop: AbortSignal
  /** Called when sampling has started and the log is open. */
  readonly onStart?: (info: FeedInfo) => void
  /** Called when the disk refuses rows of the log; the run continues. */
  readonly onLoss?: (reason: string) => void
}

/** Counts of a run. */
export interface TracebackTotals {
  readonly log: LogTotals
  readonly samples: number
  readonly gaps: number
  readonly missingSamples: number
  readonly resets: number
  readonly wraps: number
  /** Resets and wraps beyond the limit of notes. */
  readonly fallsLeftOut: number
}

/** The device should buffer this many histories, so that late reads lose no samples. */
const BUFFER_HISTORIES = 2
/** Fewest samples in the device's buffer. */
const BUFFER_SAMPLES_MIN = 1024

/**
 * Watches a device until it is stopped or has no more samples. Open events are always closed with the reason of the
 * end.
 * @throws SondeError `TRB_DEVICE`, `TRB_DENIED`, `TRB_SAMPLES`, `TRB_LOG`, `TRB_MEMORY`
 */
export async function runTraceback(options: RunTracebackOptions): Promise<TracebackTotals> {
  const { book, stop } = options
  const feed = await options.openFeed({
    device: options.device,
    dataIds: book.signals.map(({ dataId }) => dataId ?? 0n),
    samplePeriodNs: book.samplePeriodNs,
    bufferSamples: Math.max(BUFFER_SAMPLES_MIN, BUFFER_HISTORIES * book.historySamples),
    forceOwnership: options.forceOwnership,
    isExact: false,
  })
  try {
    const ring = ringFor(book, feed.info.samplePeriodNs)
    const log = new EventsLog({ ...options, ring, feed: feed.info })
    const run = new TracebackRun({ book, ring, log })
    options.onStart?.(feed.info)
    try {
      await follow(feed, ring, run, stop)
      if (stop.aborted) log.close('stopped', `stopped by ${stop.reason}`)
      else log.close('end_of_samples', 'there are no more samples')
    } catch (error) {
      log.close('failed', messageOf(error))
      throw error
    }
    const { gaps, missingSamples, resets, wraps, fallsLeftOut } = run
    return { log: log.totals, samples: ring.total, gaps, missingSamples, resets, wraps, fallsLeftOut }
  } finally {
    await feed.close()
  }
}

async function follow(feed: SampleFeed, ring: DeviceRing, run: TracebackRun, stop: AbortSignal): Promise<void> {
  let lastMs = performance.now()
  while (!stop.aborted) {
    const count = await feed.read(ring, BATCH_SAMPLES, stop)
    if (count === 'end') return
    if (count > 0) {
      run.take()
      lastMs = performance.now()
    } else if (ring.total > 0) {
      // Without samples, their clock advances with the clock of the host.
      const sinceNs = BigInt(Math.round((performance.now() - lastMs) * 1e6))
      run.wait(ring.big(ring.total - 1, SAMPLE_AT.time) + sinceNs)
    }
  }
}
