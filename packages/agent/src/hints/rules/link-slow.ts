import { type Look, SHORT_BASE_LEAST_MS } from '../look/look.ts'
import { firstKnown, maxKnown } from '../look/numbers.ts'
import { hasTraffic, slowedGpus } from '../look/workload.ts'
import { NIC } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { Rule } from './rule.ts'
import { amount, besides, titleOf } from './words.ts'

const SHARE = 0.9

/** The rate of the link. Unit: bytes per second; 0 if it is down. */
function rateNow(look: Look): number {
  return firstKnown(look.last(NIC.lineRate), look.last(NIC.speed))
}

/** Its mean of the last 10 minutes. */
function rateBefore(look: Look): number {
  return firstKnown(look.base(NIC.lineRate, SHORT_BASE_LEAST_MS), look.base(NIC.speed, SHORT_BASE_LEAST_MS))
}

/** A rate in bits per second, in words. */
function speed(bytesPerS: number): string {
  return amount(bytesPerS * 8, 'b/s')
}

/** The expected rate of the link: its past rate or that of its siblings, if higher. */
function rateExpected(look: Look): number {
  return maxKnown(rateBefore(look), look.usual(rateNow))
}

/** A link that works, but more slowly than before. */
export const linkSlow: Rule = {
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
    'a link that is down: another rule reports it': (look) => !(rateNow(look) > 0),
    'an idle port: its rate does not matter': (look) => !hasTraffic(look),
  },
  toldApart: [
    'a port that has always been slower, without siblings: its best rate is unknown',
    'an operator who slows all links down: no sibling is faster, and after an hour the new rate is normal',
  ],
  find(look) {
    const [now, expected] = [rateNow(look), rateExpected(look)]
    const measure = shareMeasure(now / expected, '<', SHARE, '% of its rate')
    if (!isPassed(measure)) return undefined
    const before = rateBefore(look)
    const was = Number.isNaN(before) ? '' : `, it was at ${speed(before)}`
    return {
      title: `${titleOf(look.device)} runs at ${speed(now)} of ${speed(expected)}`,
      measure,
      sentence: (value, limit) =>
        `The link of ${look.device.name} is at ${speed(now)}${was}${besides(look.usual(rateNow), speed)}: ${value} of ${speed(expected)}, ${limit}`,
      affected: slowedGpus(look),
    }
  },
}
