import { SondeError } from '@sonde/sdk'
import type { CompatBook } from '../../rules/compat/compat-book.ts'
import { EdgeList } from '../../rules/walk/edge-list.ts'
import { RuleWalk } from '../../rules/walk/rule-walk.ts'
import { type DeviceRing, SAMPLE_AT } from '../feed/device-ring.ts'
import type { FeedInfo, OpenFeed } from '../feed/sample-feed.ts'
import { CompatLog } from '../log/compat-log.ts'
import { ringFor } from './ring-for.ts'
import { BATCH_SAMPLES } from './traceback-run.ts'

/** Options of {@link runCompatible}. */
export interface CompatibleOptions {
  readonly book: CompatBook
  readonly device: string
  readonly openFeed: OpenFeed
  readonly forceOwnership: boolean
  readonly logPath: string
  /** Version of DOCA for the head of the log. */
  readonly docaVersion: string
  readonly stop: AbortSignal
  readonly onStart?: (info: FeedInfo) => void
}

/**
 * Watches a device like the reference application: the same log, the same order of steps, the same end.
 * @returns Number of samples that were read.
 * @throws SondeError `TRB_DEVICE`, `TRB_DENIED`, `TRB_SAMPLES`, `TRB_LOG`, `TRB_MEMORY`; `TRB_SKIPPED` if the device
 * lost samples.
 */
export async function runCompatible(options: CompatibleOptions): Promise<number> {
  const { book, stop } = options
  const ring = ringFor(book.rules, book.rules.samplePeriodNs)
  const bytes = (text: string) => Buffer.from(text).toString('latin1')
  const log = new CompatLog(
    options.logPath,
    { ...book.header, version: bytes(options.docaVersion), device: bytes(options.device) },
    ring,
  )
  try {
    const feed = await options.openFeed({
      device: options.device,
      dataIds: book.header.dataIds.map(({ id }) => id),
      samplePeriodNs: book.rules.samplePeriodNs,
      bufferSamples: book.rules.historySamples,
      forceOwnership: options.forceOwnership,
      isExact: true,
    })
    try {
      log.begin()
      options.onStart?.(feed.info)
      const walk = new RuleWalk({
        signals: book.header.dataIds.map((_, index) => ({
          at: SAMPLE_AT.values + 2 * index,
          kind: 'u64',
          isCounter: true,
        })),
        rules: book.rules.rules,
        ring,
        timeAt: SAMPLE_AT.time,
        arithmetic: 'reference',
      })
      const edges = new EdgeList()
      let first = 0
      while (!stop.aborted) {
        const count = await feed.read(ring, BATCH_SAMPLES, stop)
        if (count === 'end') break
        const end = skippedFrom(ring, first) ?? ring.total
        edges.clear()
        walk.walk(first, end, edges)
        log.write(first, end, edges)
        if (end < ring.total) throw skippedFault()
        first = end
      }
      return ring.total
    } finally {
      await feed.close()
    }
  } finally {
    log.close()
  }
}

/** The first new sample after skipped samples. The reference application treats skipped samples as a failure. */
function skippedFrom(ring: DeviceRing, first: number): number | undefined {
  for (let sample = first; sample < ring.total; sample++)
    if (((ring.words[ring.wordAt(sample) + SAMPLE_AT.flags] as number) & 1) === 1) return sample
  return undefined
}

function skippedFault(): SondeError {
  return new SondeError(
    'TRB_SKIPPED',
    'the device skipped samples, which ends the reference application; without --compat this is a note in the log',
  )
}
