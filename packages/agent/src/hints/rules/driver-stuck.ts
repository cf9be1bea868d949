import { countOf } from '@sonde/sdk/internal'
import type { Look } from '../look/look.ts'
import type { Scope } from '../look/scope.ts'
import { NIC } from '../watch/signals.ts'
import type { Rule } from './rule.ts'
import { duration, titleOf } from './words.ts'

/** So many at once share what they wait for: the kernel lets most calls of this kind in one at a time. */
const TOGETHER_COUNT = 3
/** What `ethtool` takes for stuck unless it is told otherwise. Unit: seconds. */
const STUCK_S = 2

function isSilent(look: Look): boolean {
  return look.last(NIC.responsive) === 0
}

/** Adapters whose drivers do not answer now. */
function silentPorts(scope: Scope): readonly Look[] {
  return scope.once('silent drivers', () => scope.ports.filter(isSilent))
}

/** A driver of an adapter that answers no more. */
export const driverStuck: Rule = {
  name: 'driver_stuck',
  sees: 'The driver of an adapter does not answer a call any more: its counters are not known, whatever its traffic does.',
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
      unit: 'then it is told of the node',
      source: 'the kernel lets most of these calls in one at a time, so that one that hangs holds up the others',
    },
  ],
  not: {},
  toldApart: [
    'a driver that refuses a call: that is an answer',
    'a driver that is slow: the sweep goes on without it until it answers',
    'an interface that left: it has no samples',
    'a child process that crashed: it gives no samples either',
    'a machine that is busy: the source is starved then, and no driver is told of',
  ],
  find(look) {
    if (!isSilent(look)) return undefined
    const { scope } = look
    const silent = silentPorts(scope)
    const answering = scope.ports.filter((other) => other.last(NIC.responsive) === 1).length
    const heldMs = look.held(NIC.responsive)
    const found = { value: heldMs / 1000 + STUCK_S, limit: STUCK_S, unit: 's without an answer' }
    const limit = `limit ${duration(STUCK_S * 1000)}`
    if (silent.length >= TOGETHER_COUNT)
      return {
        ...found,
        device: scope.node,
        title: `Drivers of ${silent.length} adapters do not answer`,
        sentence: `The drivers of ${silent.map(({ device }) => device.name).join(', ')} have not answered for ${duration(found.value * 1000)}, ${countOf(answering, 'other does', 'others do')}, ${limit}`,
        affected: silent.map(({ device }) => device),
      }
    return {
      ...found,
      title: `${titleOf(look.device)} has a driver that does not answer`,
      sentence: `The driver of ${look.device.name} has not answered for ${duration(found.value * 1000)}, ${countOf(answering, 'other does', 'others do')}, ${limit}; its counters are not known`,
    }
  },
}
