import { type Inspection, SHORT_BASE_LEAST_MS } from '../inspection/inspection.ts'
import { firstKnown, maxKnown } from '../inspection/numbers.ts'
import { hasTraffic, slowedGpus } from '../inspection/workload.ts'
import { NIC } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { amountWords, besides, hintDeviceTitle } from './words.ts'

const SHARE = 0.9

/** The rate of the link. Unit: bytes per second; 0 if it is down. */
function rateNow(inspection: Inspection): number {
  return firstKnown(inspection.last(NIC.lineRate), inspection.last(NIC.speed))
}

/** Its mean of the last 10 minutes. */
function rateBefore(inspection: Inspection): number {
  return firstKnown(inspection.base(NIC.lineRate, SHORT_BASE_LEAST_MS), inspection.base(NIC.speed, SHORT_BASE_LEAST_MS))
}

/** A rate in bits per second, in words. */
function speed(bytesPerS: number): string {
  return amountWords(bytesPerS * 8, 'b/s')
}

/** The expected rate of the link: its past rate or that of its siblings, if higher. */
function rateExpected(inspection: Inspection): number {
  return maxKnown(rateBefore(inspection), inspection.usual(rateNow))
}

/** A link that works, but more slowly than before. */
export const linkSlowRule: HintRule = {
  name: 'link_slow',
  sees: 'The link of a port with traffic came back at a lower rate than before, or runs at a lower rate than its siblings.',
  severity: 'critical',
  of: 'port',
  neededMs: 3000,
  uses: [NIC.lineRate, NIC.speed, NIC.linkDownEvents],
  shows: [NIC.lineRate, NIC.speed],
  limits: [
    {
      what: 'rate of the link',
      value: SHARE * 100,
      unit: '% of before, or of siblings',
      source: 'each signalling generation has half the rate of the next',
    },
  ],
  not: {
    'a link that is down: another rule reports it': (inspection) => !(rateNow(inspection) > 0),
    'an idle port: its rate does not matter': (inspection) => !hasTraffic(inspection),
  },
  toldApart: [
    'a port that has always been slower, without siblings: its best rate is unknown',
    'an operator who slows all links down: no sibling is faster, and after an hour the new rate is normal',
  ],
  find(inspection) {
    const [now, expected] = [rateNow(inspection), rateExpected(inspection)]
    const measure = shareMeasure(now / expected, '<', SHARE, '% of its rate')
    if (!isPassed(measure)) return undefined
    const before = rateBefore(inspection)
    const was = Number.isNaN(before) ? '' : `, it was at ${speed(before)}`
    return {
      title: `${hintDeviceTitle(inspection.device)} runs at ${speed(now)} of ${speed(expected)}`,
      measure,
      sentence: (value, limit) =>
        `The link of ${inspection.device.name} is at ${speed(now)}${was}${besides(inspection.usual(rateNow), speed)}: ${value} of ${speed(expected)}, ${limit}`,
      affected: slowedGpus(inspection),
    }
  },
}
