import { AdpRetxHistogram, edgesOf, type HistogramShape, histogramLimits } from '../../native/doca/adp-retx.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { wantedShape } from '../../sources/doca-telemetry-adp-retx/shape.ts'
import { type CheckVerdict, failed, notPossible, passed } from '../check.ts'
import { type Bench, openPart, verdictOf } from './bench.ts'
import { type Counters, checkReadings } from './readings.ts'

const COST_MS = 50

/**
 * Checks the histogram of retransmission timeouts. It counts only while it is open, so it is opened as the source opens
 * it. If another program has configured it, its bins stay as they are.
 */
export async function checkAdpRetx(bench: Bench): Promise<void> {
  const limits = await openPart(bench, 'adp_retx', histogramLimits)
  if (limits === undefined) return
  const { device } = bench
  let histogram: AdpRetxHistogram | undefined
  await bench.check('adp_retx.bins', async () => {
    const others = await AdpRetxHistogram.configured(device, limits.maxBins)
    if (others instanceof DocaFailure) return verdictOf(others, device.name)
    const shape = others ?? wantedShape(limits)
    if (shape === undefined) return notPossible('the device has no unit or no bins')
    const opened = await AdpRetxHistogram.open(device, shape, limits.maxBins)
    if (opened instanceof DocaFailure) return verdictOf(opened, device.name)
    histogram = opened
    return binsOf(shape, opened.shape, others !== undefined)
  })
  if (histogram === undefined) return
  const opened = histogram
  const checks = { monotony: 'adp_retx.monotony', traffic: 'adp_retx.traffic', cost: 'adp_retx.cost' } as const
  await checkReadings(bench, { ...checks, costMs: COST_MS }, async () => {
    const bins = await opened.read()
    return bins instanceof DocaFailure ? bins : namedCounters(bins)
  })
  await opened.close()
}

function binsOf(wanted: HistogramShape, found: HistogramShape, isOfOthers: boolean): CheckVerdict {
  const text = shapeText(found)
  if (text !== shapeText(wanted)) return failed(shapeText(wanted), text)
  return passed(isOfOthers ? `${text}, as another program has configured them` : text)
}

function shapeText(shape: HistogramShape): string {
  const edges = edgesOf(shape)
  return `${shape.bins} bins, edges from ${edges[0]} s to ${edges.at(-1)} s`
}

function namedCounters(bins: BigUint64Array): Counters {
  return new Map(Array.from(bins, (count, bin) => [`bin ${bin}`, count] as const))
}
