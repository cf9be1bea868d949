import type { Batch } from '@sonde/sdk'
import type { Devices } from '../devices/devices.ts'
import { docaDiagSampleType } from '../sources/doca-telemetry-diag/type.ts'
import type { Simulation } from '../sources/simulator/simulation.ts'
import { RuleWatch, type RuleWatchOptions } from '../traceback/watching/rule-watch.ts'
import { seriesName } from '../traceback/watching/series-name.ts'
import { watchOfBook } from '../traceback/watching/watch-of-book.ts'
import type { PastEventsRequest, PastRequest } from './past-protocol.ts'
import { nsOf, PastSamples } from './past-samples.ts'

/** Options of {@link watchPast}. */
export interface WatchPastOptions {
  readonly past: PastRequest
  readonly events: PastEventsRequest
  readonly simulation: Simulation
  readonly devices: Devices
  /** Unit: milliseconds since the Unix epoch. */
  readonly fromMs: number
  readonly onEdge: RuleWatchOptions['onEdge']
  /** Takes the records of the node. Default: the node reports only if rules watch its records. */
  readonly accept?: (batch: Batch) => void
}

/** A part of the past that rules watch. */
export interface WatchedPast extends Disposable {
  readonly samples: PastSamples
}

/** A part of the past from a time on, with the rules that watch its samples and records. */
export async function watchPast(options: WatchPastOptions): Promise<WatchedPast> {
  const { past, events, simulation, devices, fromMs, onEdge, accept } = options
  const { rings, book } = events
  const watch = watchOfBook(book)
  let samples: PastSamples | undefined
  const rules = new RuleWatch({
    // The rings are watched here, because their host is.
    ...{ sources: () => [], emit: () => undefined, onEdge, appOf: String },
    deviceOf: (type, labels, app) => devices.deviceOf(type, labels)?.id ?? seriesName(app, type, labels),
    startsAMinute: Number.POSITIVE_INFINITY,
    clock: { monoNs: () => samples?.nowNs ?? nsOf(fromMs), wallOffsetNs: () => 0n },
  })
  await rules.set(book)
  samples = new PastSamples({
    ...{ request: past, rings, simulation, watch, fromMs },
    onEdge: (edge) => rules.take(rings?.name ?? '', edge),
    accept: (batch) => {
      rules.accept(batch)
      accept?.(batch)
    },
    isReporting: accept !== undefined || watch.signals.some(({ type }) => type !== docaDiagSampleType.name),
  })
  return { samples, [Symbol.dispose]: () => void rules.close() }
}
