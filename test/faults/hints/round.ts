import { SimulatedNode } from '../../../packages/agent/src/hints/test-simulated-node.ts'
import { CLASS_NAMES } from '../../../packages/agent/src/sources/simulator/names.ts'
import { deviceId, targetsOf } from '../../../packages/agent/src/sources/simulator/scenarios/devices.ts'
import type { Scenario } from '../../../packages/agent/src/sources/simulator/scenarios/scenario.ts'
import { SCENARIOS } from '../../../packages/agent/src/sources/simulator/scenarios/scenarios.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { drawn, EXPECTED, type Expected, type Fault } from './expected.ts'

/** A hint that opens later than this after its effect can be seen is late. Unit: seconds. */
const WITHIN_S = 10
/** Samples come once a second. */
const SAMPLED_S = 1
/** A healthy node runs for so long before it is struck. Unit: seconds. */
const BEFORE_S = 75
/** And is looked at for so long after. Unit: seconds. */
const AFTER_S = 110

/** What came of a fault. */
export interface Finding extends Fault {
  /** `below`: it was not told, and need not be: it is below a limit that is written down. */
  readonly outcome: 'told' | 'late' | 'wrong device' | 'missed' | 'below'
  /** From when its effect could be seen. Unit: seconds; NaN where it was not told. */
  readonly delayS: number
}

/** What one round found. */
export interface RoundFindings {
  readonly seed: number
  readonly faults: readonly Finding[]
  /** Hints that no fault explains. */
  readonly strange: readonly string[]
}

/** Strikes a node with one fault or two, and looks at what its hints say. */
export function strike(random: Random, count: 1 | 2): RoundFindings {
  const seed = random.integer(1, 1_000_000_000)
  const nodeClass = random.pick(CLASS_NAMES)
  const workload = random.pick(['training', 'inference'] as const)
  const node = new SimulatedNode({ seed, nodeClass, workload })
  const faults = Array.from({ length: count }, () => drawFault(random, node, nodeClass, workload))
  node.run(BEFORE_S)
  const before = new Set(node.open().map(({ id }) => id))
  for (const { scenario, device, severity } of faults) {
    const where = device === 'sim-node' ? {} : { device }
    node.start({ name: scenario, severity, delayS: random.next(), durationS: AFTER_S * 3, ...where })
  }
  node.run(AFTER_S)
  const seen = [...node.seen].filter(([id]) => !before.has(id))
  return {
    seed,
    faults: faults.map((fault) => findingOf(fault, seen)),
    strange: seen.map(([id]) => id).filter((id) => !faults.some((fault) => explains(fault, id))),
  }
}

/** Scenarios that strike a second device as well: the other rail, the other port of the card. */
const SHARED: readonly string[] = ['hash-collision', 'pcie-downtrain']

function drawFault(random: Random, { node }: SimulatedNode, nodeClass: string, workload: Fault['workload']): Fault {
  for (;;) {
    const scenario = random.pick(drawn(SCENARIOS)) as Scenario
    const targets = targetsOf(node, scenario)
    const isOfNode = scenario.target === 'node'
    if (!isOfNode && targets.length === 0) continue
    const device = isOfNode ? 'sim-node' : deviceId(node, random.pick(targets))
    const { min, max } = scenario.severity
    return { scenario: scenario.name, nodeClass, workload, device, severity: min + random.next() * (max - min) }
  }
}

function findingOf(fault: Fault, seen: readonly (readonly [string, number])[]): Finding {
  const { tells, visibleS = () => 0, isBelow = () => false } = expectedOf(fault)
  const telling = seen.filter(([id]) => tells.includes(id.split('/')[0] ?? ''))
  const right = telling.filter(([id]) => isOn(fault, id))
  if (right.length === 0) {
    const outcome = telling.length > 0 ? 'wrong device' : isBelow(fault) ? 'below' : 'missed'
    return { ...fault, outcome, delayS: Number.NaN }
  }
  const delayS = Math.min(...right.map(([, afterS]) => afterS)) - visibleS(fault)
  const isLate = delayS > WITHIN_S + SAMPLED_S
  return { ...fault, outcome: !isLate ? 'told' : isBelow(fault) ? 'below' : 'late', delayS }
}

/** Whether a hint is about the device that was struck, or the node. */
function isOn(fault: Fault, id: string): boolean {
  const device = id.slice(id.indexOf('/') + 1)
  if (expectedOf(fault).on !== 'node') return device === fault.device
  // A node of one GPU tells of that.
  return device === 'sim-node' || (fault.nodeClass === 'small' && device === 'sim-gpu-0')
}

function explains(fault: Fault, id: string): boolean {
  const { tells, also = [] } = expectedOf(fault)
  const rule = id.split('/')[0] ?? ''
  if (also.includes(rule)) return true
  return tells.includes(rule) && (isOn(fault, id) || SHARED.includes(fault.scenario))
}

function expectedOf({ scenario }: Fault): Expected {
  return EXPECTED[scenario] as Expected
}
