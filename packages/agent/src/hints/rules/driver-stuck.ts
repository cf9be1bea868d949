import { countOf } from '@sonde/sdk/internal'
import type { Inspection } from '../inspection/inspection.ts'
import type { Scope } from '../inspection/scope.ts'
import { NIC } from '../watch/signals.ts'
import { secondsMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { hintDeviceTitle } from './words.ts'

/** This many drivers at once have a common cause: the kernel runs most calls of this kind one at a time. */
const TOGETHER_COUNT = 3
/** Default time after which `ethtool` reports a call as stuck. Unit: seconds. */
const STUCK_S = 2

function isSilent(inspection: Inspection): boolean {
  return inspection.last(NIC.responsive) === 0
}

/** Adapters whose drivers do not answer now. */
function silentPorts(scope: Scope): readonly Inspection[] {
  return scope.once('silent drivers', () => scope.ports.filter(isSilent))
}

/** A driver of an adapter that no longer answers. */
export const driverStuckRule: HintRule = {
  name: 'driver_stuck',
  sees: 'The driver of an adapter no longer answers a call: its counters are unknown, whether it has traffic or not.',
  severity: 'warning',
  of: 'port',
  neededMs: 3000,
  uses: [NIC.responsive],
  shows: [NIC.responsive],
  limits: [
    { what: 'a call without an answer', value: STUCK_S, unit: 's', source: 'the option `stuck_ms` of `ethtool`' },
    {
      what: 'adapters at once',
      value: TOGETHER_COUNT,
      unit: 'or more: a hint about the node',
      source: 'the kernel runs most of these calls one at a time, so a hanging call blocks the others',
    },
  ],
  not: {},
  toldApart: [
    'a driver that refuses a call: a refusal is an answer',
    'a slow driver: the sweep continues without it until it answers',
    'an interface that left: it has no samples',
    'a child process that crashed: it gives no samples either',
    'a busy machine: the source is starved then, and no driver is reported',
  ],
  find(inspection) {
    if (!isSilent(inspection)) return undefined
    const { scope } = inspection
    const silent = silentPorts(scope)
    const answering = scope.ports.filter((other) => other.last(NIC.responsive) === 1).length
    const others = countOf(answering, 'other does', 'others do')
    const silentS = inspection.held(NIC.responsive) / 1000 + STUCK_S
    const measure = secondsMeasure(silentS, '>=', STUCK_S, 's without an answer')
    if (silent.length >= TOGETHER_COUNT)
      return {
        measure,
        device: scope.node,
        title: `Drivers of ${silent.length} adapters do not answer`,
        sentence: (value, limit) =>
          `The drivers of ${silent.map(({ device }) => device.name).join(', ')} have not answered for ${value}, ${others}, ${limit}`,
        affected: silent.map(({ device }) => device),
      }
    return {
      measure,
      title: `${hintDeviceTitle(inspection.device)} has a driver that does not answer`,
      sentence: (value, limit) =>
        `The driver of ${inspection.device.name} has not answered for ${value}, ${others}, ${limit}; its counters are not known`,
    }
  },
}
