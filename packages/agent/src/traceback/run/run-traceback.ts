import { messageOf } from '@sonde/sdk'
import type { RuleBook } from '../../rules/rule.ts'
import { type DeviceRing, SAMPLE_AT } from '../feed/device-ring.ts'
import type { FeedInfo, OpenFeed, SampleFeed } from '../feed/sample-feed.ts'
import { type EventLimits, EventsLog, type LogTotals } from '../log/events-log.ts'
import type { LogFileOptions } from '../log/log-file.ts'
import type { LogRows } from '../log/log-rows.ts'
import { ringFor } from './ring-for.ts'
import { BATCH_SAMPLES, TracebackRun } from './traceback-run.ts'

/** What {@link runTraceback} is given. */
export interface TracebackOptions extends EventLimits {
  readonly book: RuleBook
  /** The text of `-d`. */
  readonly device: string
  readonly openFeed: OpenFeed
  readonly forceOwnership: boolean
  readonly file: LogFileOptions
  readonly rows: LogRows
  /** Version of Sonde. */
  readonly version: string
  /** Ends it. Its reason is what the log says: `SIGTERM`. */
  readonly stop: AbortSignal
  /** Sampling has started and the log is open. */
  readonly onStart?: (info: FeedInfo) => void
  /** The disk does not take rows of the log; the run goes on. */
  readonly onLoss?: (reason: string) => void
}

/** What a run took and left out. */
export interface TracebackTotals {
  readonly log: LogTotals
  readonly samples: number
  readonly gaps: number
  readonly missingSamples: number
  readonly resets: number
  readonly wraps: number
  /** Resets and wraps beyond those that were noted. */
  readonly fallsLeftOut: number
}

/** How many times the history the device should keep: reads that are late must not lose samples. */
const BUFFER_HISTORIES = 2
/** So many samples the device keeps at least. */
const BUFFER_SAMPLES_MIN = 1024

/**
 * Watches a device until it is stopped or has no more samples. Open events are closed, with the reason, whatever ends
 * it.
 *
 * @throws SondeError `TRB_DEVICE`, `TRB_DENIED`, `TRB_SAMPLES`, `TRB_LOG`, `TRB_MEMORY`
 */
export async function runTraceback(options: TracebackOptions): Promise<TracebackTotals> {
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
      // The clock of the samples goes on as that of the host does.
      const sinceNs = BigInt(Math.round((performance.now() - lastMs) * 1e6))
      run.wait(ring.big(ring.total - 1, SAMPLE_AT.time) + sinceNs)
    }
  }
}
